"""`planner-executor run`: start a run."""

from pathlib import Path
from typing import Annotated

import typer

from planner_executor.graph.cli import options
from planner_executor.graph.cli.budget_options import parse_limits
from planner_executor.graph.cli.decision_source import DecisionSource
from planner_executor.graph.cli.exit_codes import exit_code, on_screen
from planner_executor.graph.cli.option_groups import with_option_groups
from planner_executor.graph.cli.plan_file import read_plan_file
from planner_executor.graph.cli.run_driver import start
from planner_executor.graph.cli.run_options import RunOptions
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.cli.setup import Setup

OFFLINE = "planner: the embedded rules (offline); to use a model: --planner openai:gpt-5-mini"


@on_screen
@with_option_groups
def run(
    screen: Screen,
    goal: Annotated[str, typer.Argument(metavar="GOAL", help="The goal, in plain language.", callback=options.text)],
    *,
    constraint: Annotated[
        list[str] | None,
        typer.Option("--constraint", metavar="TEXT", help="A constraint on the plan; may be repeated."),
    ] = None,
    tag: Annotated[
        list[str] | None,
        typer.Option("--tag", metavar="TAG", help="A tag for `runs --tag`; may be repeated."),
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option(
            "--plan",
            parser=options.path_of,
            metavar="FILE",
            help="Use the plan in this JSON file instead of the planner.",
        ),
    ] = None,
    budget: Annotated[
        list[str] | None,
        typer.Option(
            "--budget",
            metavar="NAME=VALUE",
            help="A budget limit such as tool_calls=20, cost_usd=0.5 or calls.send_mail=2; may be repeated.",
        ),
    ] = None,
    given: RunOptions,
    yes: options.Yes = False,
    json: options.Json = False,
    db: options.Database = options.DATABASE,
) -> None:
    """Plan a goal, review the plan and execute it.

    Defaults: documents are read from `docs`, reports are written to `workspace`, the planner is the embedded rules
    (`offline`), every plan needs approval.
    """
    limits = parse_limits("--budget", budget or [])
    brought = read_plan_file("--plan", plan) if plan else None
    setup = Setup.default().changed(**given.settings)
    with setup.opened() as built:
        if setup.role_models.planner.name == "offline" and brought is None:
            screen.say(OFFLINE)
        is_offered = "search_documents" not in built["reserve"]  # beside tools of one's own it is not
        if brought is None and is_offered and (lack := _lack_of_documents(Path(setup.documents))):
            screen.say(f"the documents folder {setup.documents} {lack}; name another with --docs")
        asked = {
            "goal": goal,
            "constraints": options.texts(constraint or []),
            "tags": options.texts(tag or []),
            "plan": brought,
            "setup": setup.to_json(),
        }
        ended = start(DecisionSource(screen, db, yes=yes, by=given.by), {**built, "budget": limits}, asked, json)
    raise typer.Exit(exit_code(ended.status))


def _lack_of_documents(folder: Path) -> str | None:
    if not folder.is_dir():
        return "does not exist"
    return None if any(folder.iterdir()) else "is empty"
