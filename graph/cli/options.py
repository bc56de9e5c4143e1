"""Arguments and options that several commands share."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from graph.sanitize import is_utf8

DATABASE = Path("planner-executor.db")


class Approval(StrEnum):
    """Which plans need a person."""

    always = "always"
    side_effects = "side_effects"
    never = "never"


class Replan(StrEnum):
    """When the rest of a plan is revised."""

    failure = "failure"
    every_step = "every_step"
    never = "never"


def text(given: str | None) -> str | None:
    """Refuse text that could not be recorded: blank, or bytes that are no UTF-8."""
    if given is None:
        return None
    if not given.strip():
        raise typer.BadParameter("say something")
    if not is_utf8(given):
        raise typer.BadParameter("this is no valid UTF-8 text")
    return given


def texts(given: list[str]) -> list[str]:
    """Refuse a list that holds such text."""
    return [words for words in given if text(words)]


RunName = Annotated[str, typer.Argument(metavar="RUN", help="The run's name; `planner-executor runs` lists them.")]
RunOrFile = Annotated[str, typer.Argument(metavar="RUN|FILE", help="The run's name, or a file that `export` wrote.")]
Database = Annotated[
    Path, typer.Option("--db", envvar="PLANNER_EXECUTOR_DB", metavar="FILE", help="The database of runs.")
]
Documents = Annotated[
    Path | None,
    typer.Option("--docs", metavar="DIR", help="Folder of documents to search and read."),
]
Workspace = Annotated[
    Path | None,
    typer.Option("--workspace", metavar="DIR", help="Folder that reports are written to."),
]
McpFile = Annotated[
    Path | None,
    typer.Option("--mcp", metavar="FILE", help="MCP servers whose tools plans may use: JSON with mcpServers."),
]
OwnTools = Annotated[
    list[str] | None,
    typer.Option(
        "--tools",
        metavar="MODULE:NAME",
        help="Tools of your own: a list, a tool, or a function that returns a list; may be given more than once.",
    ),
]
PolicyFile = Annotated[
    Path | None,
    typer.Option("--policy", metavar="FILE", help="What is allowed, reviewed and denied: a TOML file."),
]
PlannerName = Annotated[
    str | None,
    typer.Option("--planner", metavar="MODEL", help="Model that plans, as provider:model."),
]
ExecutorName = Annotated[
    str | None,
    typer.Option("--executor", metavar="MODEL", help="Model for steps without a tool."),
]
ReplannerName = Annotated[
    str | None,
    typer.Option("--replanner", metavar="MODEL", help="Model that revises plans."),
]
JudgeName = Annotated[
    str | None,
    typer.Option("--judge", metavar="MODEL", help="Model that judges success criteria in words."),
]
ModelSets = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="ROLE.NAME=VALUE",
        help="How a role's model is asked, such as executor.temperature=0.2; may be given more than once.",
    ),
]
ConfigFile = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="Settings file; planner-executor.toml where there is one."),
]
ApprovalName = Annotated[Approval | None, typer.Option("--approval", help="Which plans need a person.")]
ReplanName = Annotated[Replan | None, typer.Option("--replan", help="When the rest of a plan is revised.")]
Horizon = Annotated[
    int | None, typer.Option("--horizon", min=1, max=1, help="Plan one step at a time; else everything at once.")
]
MaxReplans = Annotated[int | None, typer.Option("--max-replans", min=0, help="How often a plan is revised.")]
MaxConcurrency = Annotated[int | None, typer.Option("--max-concurrency", min=1, help="How many steps run at a time.")]
Json = Annotated[
    bool, typer.Option("--json", help="Write each event to standard output as a line of JSON; ask nobody.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Yes = Annotated[bool, typer.Option("--yes", help="Approve every plan without asking; never settles an uncertain call.")]
