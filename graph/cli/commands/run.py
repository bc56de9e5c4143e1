"""`planner-executor run`: start a run."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from graph.cli import options
from graph.cli.budgets import limits_of
from graph.cli.commands.models import said_of_models
from graph.cli.commands.plan_file import read_plan_file
from graph.cli.decision_source import Deciding
from graph.cli.driving import Driver, new_thread
from graph.cli.exits import exit_code, reported
from graph.cli.following import following, tell_request
from graph.cli.outcome import show_outcome
from graph.cli.pausing import pausing
from graph.cli.screen import Screen
from graph.cli.setup import Setup, check_folders
from graph.runs import Run

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


def run(
    goal: Goal,
    constraint: Constraints = None,
    tag: Tags = None,
    plan: PlanFile = None,
    docs: options.Documents = None,
    workspace: options.Workspace = None,
    mcp: options.McpFile = None,
    own_tools: options.OwnTools = None,
    planner: options.PlannerName = None,
    executor: options.ExecutorName = None,
    replanner: options.ReplannerName = None,
    judge: options.JudgeName = None,
    set_: options.ModelSets = None,
    config: options.ConfigFile = None,
    policy: options.PolicyFile = None,
    budget: Budget = None,
    approval: options.ApprovalName = None,
    replan: options.ReplanName = None,
    horizon: options.Horizon = None,
    max_replans: options.MaxReplans = None,
    max_concurrency: options.MaxConcurrency = None,
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
        check_folders(docs, workspace)
        limits = limits_of("--budget", budget or [])
        brought = read_plan_file("--plan", plan) if plan else None
        setup = Setup.default().changed(
            documents=docs,
            workspace=workspace,
            mcp=mcp,
            own_tools=own_tools,
            models=said_of_models(
                {"planner": planner, "executor": executor, "replanner": replanner, "judge": judge}, set_ or []
            ),
            config=config,
            policy=policy,
            approval=approval and approval.value,
            replan=replan and replan.value,
            horizon=horizon,
            max_replans=max_replans,
            max_concurrency=max_concurrency,
        )
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
                Deciding(screen, db, yes=yes),
                {**built, "budget": limits, **following(json)},
                {**asked, "setup": setup.to_json()},
            )
        tell_request(ended, json)
        raise typer.Exit(exit_code(ended))


def start(
    screen: Screen, database: Path, deciding: Deciding, built: Mapping[str, Any], asked: Mapping[str, Any]
) -> Run:
    """Start a run with these models and tools, and return it at its end, or waiting.

    Args:
        screen: Where it is told.
        database: The file it is kept in.
        deciding: Answers what the run asks.
        built: Options of `graph.build_graph`.
        asked: `goal`, `constraints`, `tags`, `plan` and `setup`, as `graph.agent.AsyncAgent.start` takes them.
    """
    thread = new_thread()
    with pausing(screen, database, thread), Driver(screen, database, built, deciding) as driver:
        ended = driver.start(thread, **asked)
    show_outcome(screen, ended, database)
    return ended
