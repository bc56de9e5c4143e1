"""The options that a command was given, as the commands that it prints have to repeat them.

Options of `run` are on record, except those that the operator has to name: a record causes no import and trusts no
file. Options of a command that takes a run up are on no record: without them it would be taken up in other folders.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from shlex import quote
from typing import Any

NAMED = ("--config", "--tools")
"""Options that the operator names each time."""

RECORDING = ("run",)
"""Commands whose other options the run records."""

SETTINGS = (
    "--docs",
    "--workspace",
    "--mcp",
    "--pack",
    "--planner",
    "--executor",
    "--replanner",
    "--judge",
    "--set",
    "--policy",
    "--approval",
    "--replan",
    "--horizon",
    "--max-replans",
    "--max-repairs",
    "--max-concurrency",
    "--own-settings",
)
"""Options for which a run that is taken up goes on otherwise than it recorded."""


@dataclass(frozen=True)
class GivenOptions:
    """The options of a command by name, those that were not given without a value."""

    command: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)

    def repeated(self, own_tools: tuple[str, ...] = ()) -> str:
        """Return the options that a command has to repeat, quoted for a shell, each after a space.

        Args:
            own_tools: The user's own tools that the run recorded; named once.

        >>> GivenOptions("run", {"--docs": "d", "--config": "my settings.toml"}).repeated(("shop:TOOLS",))
        " --config 'my settings.toml' --tools shop:TOOLS"
        """
        names = NAMED if self.command in RECORDING else (*NAMED, *SETTINGS)
        return "".join(word for name in names for word in _words(name, self._value(name, own_tools)))

    def _value(self, name: str, own_tools: tuple[str, ...]) -> Any:
        value = self.values.get(name)
        if name == "--tools":
            return list(dict.fromkeys((*own_tools, *(value or ()))))
        if name == "--set":  # of `fork` it also sets results, by the ids of steps, which have no dot
            return [entry for entry in value or () if "." in entry.partition("=")[0]]
        return value


_given: ContextVar[GivenOptions | None] = ContextVar("given options", default=None)


@contextmanager
def given_options(command: str, values: Mapping[str, Any]) -> Iterator[None]:
    """Let the commands that are printed in the block repeat these options."""
    token = _given.set(GivenOptions(command, values))
    try:
        yield
    finally:
        _given.reset(token)


def repeated_options(setup: Mapping[str, Any]) -> str:
    """Return the options that a command about a run has to repeat; `setup` is what a facade recorded of the run."""
    own = setup.get("own_tools") or ()
    given = _given.get() or GivenOptions()
    return given.repeated(tuple(own) if isinstance(own, list | tuple) else ())


def _words(option: str, value: Any) -> Iterator[str]:
    if value is True:
        yield f" {option}"
    elif isinstance(value, list | tuple):
        yield from (f" {option} {quote(str(one))}" for one in value)
    elif value is not None and value is not False:
        yield f" {option} {quote(str(value))}"
