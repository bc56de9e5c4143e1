"""`planner-executor run`: start a run."""

from pathlib import Path
from typing import Annotated

import typer

from graph.cli import options
from graph.cli.budget_options import limits_of
from graph.cli.decision_source import DecisionSource
from graph.cli.exit_codes import exit_code, reported
from graph.cli.json_stream import json_observers, write_open_request
from graph.cli.option_groups import with_option_groups
from graph.cli.plan_file import read_plan_file
from graph.cli.run_driver import start
from graph.cli.run_options import RunOptions
from graph.cli.screen import Screen
from graph.cli.setup import Setup

OFFLINE = "planning with the embedded rules (offline); name a model with --planner openai:gpt-5-mini"

Goal = Annotated[str, typer.Argument(metavar="GOAL", help="What is wanted, in words.", callback=options.text)]
Constraints = Annotated[
    list[str] | None,
    typer.Option("--constraint", metavar="TEXT", help="Something to respect; may be given more than once."),
]
Tags = Annotated[
    list[str] | None,
    typer.Option(
        "--tag", metavar="TAG", help="A word to find the run by, see `runs --tag`; may be given more than once."
    ),
]
PlanFile = Annotated[
    Path | None, typer.Option("--plan", metavar="FILE", help="A plan as JSON, instead of asking the planner.")
]
Budget = Annotated[
    list[str] | None,
    typer.Option(
        "--budget",
        metavar="NAME=VALUE",
        help="What the run may spend, such as tool_calls=20, cost_usd=0.5 or calls.send_mail=2; more than once.",
    ),
]


@with_option_groups
def run(
    goal: Goal,
    *,
    constraint: Constraints = None,
    tag: Tags = None,
    plan: PlanFile = None,
    budget: Budget = None,
    given: RunOptions,
    yes: options.Yes = False,
    json: options.Json = False,
    db: options.Database = options.DATABASE,
) -> None:
    """Plan a goal, show the plan, ask, and carry it out.

    Where nothing is said, documents are read in `docs`, reports are written to `workspace`, the embedded rules
    (`offline`) plan, every plan is shown for approval, plans are revised twice at most, and 16 steps run at a time.
    """
    screen = Screen.beside_json() if json else Screen.here()
    with reported(screen):
        given.check()
        limits = limits_of("--budget", budget or [])
        brought = read_plan_file("--plan", plan) if plan else None
        setup = Setup.default().changed(**given.settings)
        with setup.opened() as built:
            if setup.role_models.planner.name == "offline" and brought is None:
                screen.say(OFFLINE)
            if brought is None and not Path(setup.documents).is_dir():
                screen.say(f"there is no folder {setup.documents} to search; name one with --docs")
            asked = {
                "goal": goal,
                "constraints": options.texts(constraint or []),
                "tags": options.texts(tag or []),
                "plan": brought,
            }
            ended = start(
                screen,
                db,
                DecisionSource(screen, db, yes=yes),
                {**built, "budget": limits, **json_observers(json)},
                {**asked, "setup": setup.to_json()},
            )
        write_open_request(ended, json)
        raise typer.Exit(exit_code(ended))
