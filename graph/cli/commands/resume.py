"""`planner-executor resume`: go on with a run, and decide what it asks."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from graph.cli import options
from graph.cli.answers import said_by_options
from graph.cli.commands.models import said_of_models
from graph.cli.decision_source import Deciding
from graph.cli.driving import Driver
from graph.cli.exits import exit_code, reported
from graph.cli.following import following, tell_request
from graph.cli.outcome import show_outcome
from graph.cli.pausing import pausing
from graph.cli.reading import looked_up
from graph.cli.remembered import taken_up
from graph.cli.screen import Screen
from graph.cli.setup import check_folders
from graph.errors import NothingToDecideError
from graph.runs import Run

Build = Callable[[], AbstractContextManager[Mapping[str, Any]]]

Why = Annotated[
    str | None,
    typer.Argument(metavar="WHY", help="With --reject: what to change; plans again.", callback=options.text),
]
Approve = Annotated[bool, typer.Option("--approve", help="Run exactly the plan, calls and gates that wait.")]
Reject = Annotated[bool, typer.Option("--reject", help="End the run; with words behind it, plan again.")]
Digest = Annotated[
    str | None,
    typer.Option("--digest", metavar="DIGEST", help="Decide only if just this is asked.", callback=options.text),
]
EditFile = Annotated[Path | None, typer.Option("--edit", metavar="FILE", help="Run this plan (JSON) instead.")]
Feedback = Annotated[
    str | None, typer.Option("--feedback", metavar="TEXT", help="Plan again with these words.", callback=options.text)
]
Answers = Annotated[
    list[str] | None,
    typer.Option("--answer", metavar="STEP=TEXT", help="The answer to a question: JSON or text; once for each."),
]
Raise = Annotated[
    list[str] | None,
    typer.Option("--raise", metavar="NAME=VALUE", help="What the run may spend in all from now on; more than once."),
]
Finish = Annotated[bool, typer.Option("--finish", help="Where the budget is spent: end with what there is.")]
Happened = Annotated[
    list[bool] | None,
    typer.Option("--happened", metavar="true|false", help="Whether an uncertain call happened; once for each."),
]
Result = Annotated[
    list[str] | None,
    typer.Option("--result", metavar="JSON", help="What a call that happened returned: JSON or text."),
]
OwnSettings = Annotated[
    bool,
    typer.Option("--own-settings", help="Use the settings here and these options, nothing that the run remembers."),
]


def resume(
    run: options.RunName,
    why: Why = None,
    approve: Approve = False,
    reject: Reject = False,
    edit: EditFile = None,
    feedback: Feedback = None,
    answer: Answers = None,
    raise_: Raise = None,
    finish: Finish = False,
    yes: options.Yes = False,
    digest: Digest = None,
    happened: Happened = None,
    result: Result = None,
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
    approval: options.ApprovalName = None,
    replan: options.ReplanName = None,
    horizon: options.Horizon = None,
    max_replans: options.MaxReplans = None,
    max_concurrency: options.MaxConcurrency = None,
    own_settings: OwnSettings = False,
    json: options.Json = False,
    db: options.Database = options.DATABASE,
) -> None:
    """Go on with a run that waits, was paused or was killed.

    Folders and models are those it was started with, unless options name others; what differs from here is shown. The
    policy here always holds.
    """
    screen = Screen.beside_json() if json else Screen.here()
    with reported(screen):
        check_folders(docs, workspace)
        said = said_by_options(
            approve=approve,
            reject=reject,
            why=why,
            edit=edit,
            feedback=feedback,
            finish=finish,
            answers=options.texts(answer or []),
            limits=raise_ or [],
            happened=happened or [],
            results=options.texts(result or []),
            yes=yes,
        )
        deciding = Deciding(screen, db, yes, said, digest)
        found = looked_up(db, run)
        names = {"planner": planner, "executor": executor, "replanner": replanner, "judge": judge}
        given: dict[str, Any] = {
            "documents": docs,
            "workspace": workspace,
            "mcp": mcp,
            "own_tools": own_tools,
            "models": said_of_models(names, set_ or []),
            "config": config,
            "policy": policy,
            "approval": approval and approval.value,
            "replan": replan and replan.value,
            "horizon": horizon,
            "max_replans": max_replans,
            "max_concurrency": max_concurrency,
        }

        @contextmanager
        def opened() -> Iterator[Mapping[str, Any]]:
            with taken_up(screen, found, given, own_settings).opened() as built:
                yield built

        raise typer.Exit(exit_code(go_on(screen, db, deciding, found, opened, json)))


def go_on(screen: Screen, database: Path, deciding: Deciding, run: Run, build: Build, json: bool = False) -> Run:
    """Go on with a run and return it at its end, or waiting.

    Args:
        screen: Where it is told.
        database: The file it is kept in.
        deciding: Answers what the run asks.
        run: The run as the ledger has it.
        build: Opens the options of `graph.build_graph`; a run that has ended needs none.
        json: Whether events are written to standard output as lines of JSON.

    Raises:
        NothingToDecideError: There is a decision, and the run does not wait for one.
    """
    if deciding.has_answer and run.status != "waiting":
        raise NothingToDecideError(run.id, run.status)
    if not run.ended:
        with build() as built, pausing(screen, database, run.id):
            run = _driven(Driver(screen, database, {**built, **following(json)}, deciding), run)
    show_outcome(screen, run, database)
    tell_request(run, json)
    return run


def _driven(driver: Driver, run: Run) -> Run:
    with driver:
        return driver.resume(run.id)
