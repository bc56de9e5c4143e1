"""Arguments and options shared by several commands."""

from pathlib import Path
from typing import Annotated

import typer

from planner_executor.graph.errors import InputError
from planner_executor.graph.ledger.database_name import IN_MEMORY, name_fault
from planner_executor.graph.plain_text.sanitize import is_utf8
from planner_executor.graph.record.person import Person
from planner_executor.tools.packs import DEFAULT_PACKS, PACKS

DATABASE = "planner-executor.db"


def text(given: str | None) -> str | None:
    """Return the text; refuse text that cannot be recorded: blank, or not UTF-8."""
    if given is None:
        return None
    if not given.strip():
        raise typer.BadParameter("the text is blank")
    if not is_utf8(given):
        raise typer.BadParameter("the text is not valid UTF-8")
    return given


def named(database: str) -> str:
    """Return the name of a database; refuse one that no other command would find."""
    if fault := name_fault(database):
        raise typer.BadParameter(fault)
    if database == IN_MEMORY:
        raise typer.BadParameter("runs in memory are gone at the end of the command; name a file, such as runs.db")
    return database


def texts(given: list[str]) -> list[str]:
    """Return the texts; refuse them like `text` does."""
    return [words for words in given if text(words)]


Since = Annotated[
    str | None,
    typer.Option(
        "--since",
        callback=text,
        metavar="WHEN",
        help="Only runs started since: 90m, 24h, 30d, or 2026-11-01[T09:30].",
    ),
]


def path_of(given: str | Path) -> Path:
    """Return a path; a blank one, as of an unset variable, would be the current folder."""
    if not str(given).strip():
        raise typer.BadParameter("the path is blank")
    return Path(given)


RunName = Annotated[str, typer.Argument(metavar="RUN", help="Name of the run; `planner-executor runs` lists them.")]
RunOrFile = Annotated[str, typer.Argument(metavar="RUN|FILE", help="Name of the run, or a file written by `export`.")]
Database = Annotated[
    str,
    typer.Option(
        "--db",
        envvar="PLANNER_EXECUTOR_DB",
        callback=named,
        metavar="FILE|ADDRESS",
        help="The database of runs: a file, or postgresql://...",
    ),
]
McpFile = Annotated[
    Path | None,
    typer.Option("--mcp", parser=path_of, metavar="FILE", help="MCP servers to take tools from: JSON with mcpServers."),
]
OwnTools = Annotated[
    list[str] | None,
    typer.Option(
        "--tools",
        metavar="MODULE:NAME",
        help="Your own tools: a list, a tool, or a function that returns a list; may be repeated.",
    ),
]
Packs = Annotated[
    list[str] | None,
    typer.Option(
        "--pack",
        metavar="NAME",
        help=f"Built-in tools: {', '.join(PACKS)}; may be repeated. "
        f"Default: {', '.join(DEFAULT_PACKS)}; beside --tools none.",
    ),
]
PolicyFile = Annotated[
    Path | None,
    typer.Option(
        "--policy", parser=path_of, metavar="FILE", help="Policy: a TOML file with rules to allow, review and deny."
    ),
]
ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--config", parser=path_of, metavar="FILE", help="Settings file. Default: planner-executor.toml, if it exists."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Write events to standard output as JSON lines; never prompt.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Yes = Annotated[
    bool, typer.Option("--yes", help="Approve every plan without prompting; never settles an uncertain call.")
]


def person(name: str | None, roles: list[str] | None) -> Person | None:
    """Return the person whom `--as` and `--role` name.

    Raises:
        InputError: A name is no short text, or there is a role without a person.
    """
    if name is None and roles:
        raise InputError("--role", f"{roles[0]!r:.80} is nobody's role; name the person with --as too")
    if name is None:
        return None
    try:
        return Person(name, roles or ())
    except ValueError as error:
        raise InputError("--as", str(error)) from error
