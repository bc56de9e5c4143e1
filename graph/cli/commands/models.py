"""`planner-executor models check`: test the capabilities of each configured model."""

import asyncio
from typing import TYPE_CHECKING

import typer
from rich.table import Table

from planner_executor.graph.cli import options
from planner_executor.graph.cli.command_group import CommandGroup
from planner_executor.graph.cli.epilog import EPILOG
from planner_executor.graph.cli.exit_codes import USAGE, on_screen
from planner_executor.graph.cli.option_groups import with_option_groups
from planner_executor.graph.cli.run_options import ModelOptions
from planner_executor.graph.cli.screen import Screen, cell
from planner_executor.graph.cli.setup import Setup

if TYPE_CHECKING:
    from planner_executor.graph.chat_models.capabilities import Capabilities
    from planner_executor.graph.chat_models.roles import RoleModels

models = typer.Typer(name="models", cls=CommandGroup, help="The models of the roles.", no_args_is_help=True)


@models.callback()
def group() -> None:
    """The models of the roles."""


@models.command(epilog=EPILOG)
@on_screen
@with_option_groups
def check(
    screen: Screen,
    given: ModelOptions,
    config: options.ConfigFile = None,
) -> None:
    """Test each configured model: tool calling, structured output, token counts.

    Models come from the flags, the environment and the settings file. A test costs a few tokens.
    """
    setup = Setup.default().changed(models=given.models, config=config)
    findings = asyncio.run(examine_all(setup.role_models))
    screen.show(table_of(findings))
    if any(finding.error for _, finding in findings):
        raise typer.Exit(USAGE)


async def examine_all(models: "RoleModels") -> "list[tuple[str, Capabilities]]":
    """Return (roles, finding) for each model, fallbacks after the model they replace."""
    from planner_executor.graph.chat_models.capabilities import probe

    roles: dict[int, list[str]] = {}
    different = {}
    for role, model in models.all_models.items():
        # Roles share a model, which is tested once and costs a few tokens.
        roles.setdefault(id(model), []).append(role)
        different[id(model)] = model
    return [
        (f"{', '.join(roles[key])}{' (fallback)' if place else ''}", await probe(chat))
        for key, model in different.items()
        for place, chat in enumerate(model.chats)
    ]


def table_of(findings: "list[tuple[str, Capabilities]]") -> Table:
    """Return a table with a row per model."""
    table = Table("roles", "model", "answers", "tools", "schema", "counts tokens", box=None, pad_edge=False)
    for roles, found in findings:
        answered = found.error or f"in {found.took_s:.1f} s"
        able = (found.tool_calling, found.structured_output, found.counts_tokens)
        shown = ["" if found.error else "yes" if can else "no" for can in able]
        table.add_row(*map(cell, (roles, found.model, answered, *shown)))
    return table
