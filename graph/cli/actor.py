"""Who gives a command: the person whom options name, with a proof for the adapter that verifies people, or the user."""

import shlex
import subprocess
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import typer

from planner_executor.graph.cli import options
from planner_executor.graph.errors import InputError
from planner_executor.graph.record.person import Approver, Person
from planner_executor.graph.settings.identity import named
from planner_executor.graph.words.unreadable import unreadable

PROOF = "--proof-command"


@dataclass(frozen=True)
class ActorOptions:
    """The options that name a person; without any it is the user of this process."""

    as_: Annotated[
        str | None,
        typer.Option(
            "--as", metavar="NAME", help="Who you are; the record says `claimed` unless the settings verify it."
        ),
    ] = None
    role: Annotated[
        list[str] | None, typer.Option("--role", metavar="ROLE", help="A role of yours; may be repeated.")
    ] = None
    proof_command: Annotated[
        str | None,
        typer.Option(
            PROOF,
            metavar="COMMAND",
            help="With --as: a command that prints what proves it, such as a token, for the adapter of the settings.",
        ),
    ] = None

    @cached_property
    def by(self) -> Person | None:
        """The person who gives the command, with their proof; it is asked for once.

        Raises:
            InputError: The name is no short text, an option needs `--as`, or there is no proof.
        """
        person = options.person(self.as_, self.role)
        if self.proof_command is None:
            return person
        if person is None:
            raise InputError(PROOF, "it proves who you are; name yourself with --as too")
        return Person(person.name, person.roles, proof=_printed(self.proof_command))

    def approver(self, **settings: Any) -> Approver:
        """Return who gives the command, verified by the adapter that the settings file names, if it names one.

        Args:
            settings: Those of the command, see `Setup.changed`: a tool of theirs may not write the adapter.

        Raises:
            InputError: See `by`.
            ConfigError: The adapter cannot be used.
        """
        from planner_executor.graph.builder.configuration import identity_in_file  # heavy

        # Most settings name no adapter, and without one no tool has to be loaded.
        if identity_in_file(settings.get("config")) is None:
            return named(self.by)
        from planner_executor.graph.builder.options import identity_adapter
        from planner_executor.graph.cli.setup import Setup

        tools = Setup.default().changed(**settings).tools()
        return named(self.by, identity_adapter(settings.get("config"), tools))


def _printed(command: str) -> str:
    """Run a command and return what it prints, which is shown and kept nowhere; it may ask in the terminal.

    Raises:
        InputError: It cannot be run, fails, or prints nothing.
    """
    try:
        done = subprocess.run(shlex.split(command), stdout=subprocess.PIPE, check=False)
        proof = done.stdout.decode().strip("\r\n")
    except (OSError, ValueError) as error:  # not there, a quote left open, no UTF-8
        raise InputError(PROOF, f"it cannot be used: {unreadable(error)}") from None
    if done.returncode or not proof:
        why = f"it ended with exit code {done.returncode}" if done.returncode else "it printed nothing"
        raise InputError(PROOF, f"{why}; it has to print the proof and end with 0")
    return proof
