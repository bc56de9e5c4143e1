"""Groups of commands: those with subcommands, and the whole command line, which imports what is used."""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command, get_group

from planner_executor.graph.cli.command_table import COMMANDS
from planner_executor.graph.cli.epilog import EPILOG
from planner_executor.graph.words.validation_message import without_prefix

WHOLE = 1_000
"""More letters than any first sentence has."""


class CommandGroup(TyperGroup):
    """A group whose help breaks the summaries of its commands into lines, where click's own leaves their ends out.

    Options are read with pydantic, whose prefixes no reader needs.
    """

    def invoke(self, ctx: Any) -> Any:
        """Run the command that the arguments name."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = without_prefix(error.message)
            raise

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002  (click calls it so)
        """Write the names and summaries of the commands."""
        with formatter.section("Commands"):
            formatter.write_dl(self.summaries())

    def summaries(self) -> list[tuple[str, str]]:
        """Return the names of the commands with the first sentence of each."""
        return [(name, one.get_short_help_str(WHOLE)) for name, one in self.commands.items() if not one.hidden]


class AllCommands(CommandGroup):
    """The commands of the table; each is imported when it is used, and none for `--help`."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands = _Imported()  # type: ignore[assignment]  # nobody writes into it

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002  (click calls it so)
        """Return the names in the order of `--help`."""
        return list(COMMANDS)

    def summaries(self) -> list[tuple[str, str]]:
        """Return the names and first sentences, without an import."""
        return [(name, row.summary) for name, row in COMMANDS.items()]


class _Imported(Mapping[str, Any]):
    """Command by name, made on the first look: a process needs one of them."""

    def __getitem__(self, name: str) -> Any:
        return _made(name)

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


@cache
def _made(name: str) -> Any:
    row = COMMANDS[name]
    made = getattr(import_module(f"planner_executor.graph.cli.commands.{row.module}"), row.name)
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    # A command with subcommands is a group of its own already.
    if isinstance(made, typer.Typer):
        alone.add_typer(made)
        return get_group(alone).commands[name]
    alone.command(name, epilog=EPILOG)(made)
    return get_command(alone)
