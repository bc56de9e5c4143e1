"""The list of commands in a help screen, with the first sentence of each in full."""

from typing import Any

import typer
from typer.core import TyperGroup

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

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the names and summaries of the commands."""
        found = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(name, one.get_short_help_str(WHOLE)) for name, one in found if one and not one.hidden])
