"""`planner-executor models check`: ask each configured model, and say what it can do."""

import asyncio
from typing import TYPE_CHECKING

import typer
from rich.table import Table

from graph.cli import options
from graph.cli.exit_codes import EPILOG, USAGE, reported
from graph.cli.option_groups import with_option_groups
from graph.cli.run_options import ModelOptions
from graph.cli.screen import Screen, cell
from graph.cli.setup import Setup

if TYPE_CHECKING:
    from graph.chat_models.examination import Finding
    from graph.chat_models.roles import RoleModels

models = typer.Typer(name="models", help="The models of the roles.", no_args_is_help=True)


@models.callback()
def group() -> None:
    """The models of the roles."""


@models.command(epilog=EPILOG)
@with_option_groups
def check(
    given: ModelOptions,
    config: options.ConfigFile = None,
) -> None:
    """Ask each configured model a word or two, and say what it can do: call tools, keep to a schema, count tokens.

    Models are those of the flags, the environment and the settings file. Each costs a few tokens.
    """
    screen = Screen.here()
    with reported(screen):
        setup = Setup.default().changed(models=given.models, config=config)
        findings = asyncio.run(examined(setup.role_models))
        screen.show(table_of(findings))
        if any(finding.error for _, finding in findings):
            raise typer.Exit(USAGE)


async def examined(models: "RoleModels") -> "list[tuple[str, Finding]]":
    """Return (roles, finding) for each model; those that stand in come after the one they stand in for."""
    from graph.chat_models.examination import examine

    roles: dict[int, list[str]] = {}
    different = {}
    for role, model in models.everyone.items():
        roles.setdefault(id(model), []).append(role)
        different[id(model)] = model
    return [
        (f"{', '.join(roles[key])}{' (stands in)' if place else ''}", await examine(chat))
        for key, model in different.items()
        for place, chat in enumerate(model.chats)
    ]


def table_of(findings: "list[tuple[str, Finding]]") -> Table:
    """Return a row for each model."""
    table = Table("roles", "model", "answers", "tools", "schema", "counts tokens", box=None, pad_edge=False)
    for roles, found in findings:
        said = found.error or f"in {found.took_s:.1f} s"
        able = (found.tool_calling, found.structured_output, found.counts_tokens)
        shown = ["" if found.error else "yes" if can else "no" for can in able]
        table.add_row(*map(cell, (roles, found.model, said, *shown)))
    return table
