"""`planner-executor resume`: go on with a run, and decide what it asks."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from graph.cli import options
from graph.cli.answers import PlanChoice, settlements_of
from graph.cli.deciding import Deciding
from graph.cli.driving import Driver
from graph.cli.exits import exit_code, reported
from graph.cli.outcome import show_outcome
from graph.cli.pausing import pausing
from graph.cli.plan_file import read_plan_file
from graph.cli.reading import looked_up
from graph.cli.screen import Screen
from graph.cli.setup import Setup, check_folders
from graph.errors import InputError, NothingToDecideError
from graph.runs import Run

Why = Annotated[
    str | None,
    typer.Argument(metavar="WHY", help="With --reject: what to change; plans again.", callback=options.text),
]
Approve = Annotated[bool, typer.Option("--approve", help="Run exactly the plan that waits.")]
Reject = Annotated[bool, typer.Option("--reject", help="End the run; with words behind it, plan again.")]
Digest = Annotated[
    str | None,
    typer.Option("--digest", metavar="DIGEST", help="Decide only about this plan.", callback=options.text),
]
EditFile = Annotated[Path | None, typer.Option("--edit", metavar="FILE", help="Run this plan (JSON) instead.")]
Feedback = Annotated[
    str | None, typer.Option("--feedback", metavar="TEXT", help="Plan again with these words.", callback=options.text)
]
Happened = Annotated[
    list[bool] | None,
    typer.Option("--happened", metavar="true|false", help="Whether an uncertain call happened; once for each."),
]
Result = Annotated[
    list[str] | None,
    typer.Option("--result", metavar="JSON", help="What a call that happened returned: JSON or text."),
]


def resume(
    run: options.RunName,
    why: Why = None,
    approve: Approve = False,
    reject: Reject = False,
    edit: EditFile = None,
    feedback: Feedback = None,
    yes: options.Yes = False,
    digest: Digest = None,
    happened: Happened = None,
    result: Result = None,
    docs: options.Documents = None,
    workspace: options.Workspace = None,
    planner: options.PlannerName = None,
    executor: options.ExecutorName = None,
    replanner: options.ReplannerName = None,
    approval: options.ApprovalName = None,
    max_replans: options.MaxReplans = None,
    max_concurrency: options.MaxConcurrency = None,
    db: options.Database = options.DATABASE,
) -> None:
    """Go on with a run that waits, was paused or was killed; folders and models are those it was started with."""
    screen = Screen.here()
    with reported(screen):
        check_folders(docs, workspace)
        deciding = Deciding(screen, db, yes, _choice(approve, reject, why, edit, feedback, yes))
        deciding.digest = digest
        deciding.settlements = settlements_of(happened or [], options.texts(result or []))
        found = looked_up(db, run)
        setup = (
            Setup.default()
            .remembered(found.setup)
            .changed(
                documents=docs,
                workspace=workspace,
                planner=planner,
                executor=executor,
                replanner=replanner,
                approval=approval and approval.value,
                max_replans=max_replans,
                max_concurrency=max_concurrency,
            )
        )
        raise typer.Exit(exit_code(go_on(screen, db, deciding, found, setup.options)))


def go_on(screen: Screen, database: Path, deciding: Deciding, run: Run, build: Callable[[], Mapping[str, Any]]) -> Run:
    """Go on with a run and return it at its end, or waiting.

    Args:
        screen: Where it is told.
        database: The file it is kept in.
        deciding: Answers what the run asks.
        run: The run as the ledger has it.
        build: Makes the options of `graph.build_graph`; a run that has ended needs none.

    Raises:
        NothingToDecideError: There is a decision, and the run does not wait for one.
    """
    if deciding.has_answer and run.status != "waiting":
        raise NothingToDecideError(run.id, run.status)
    if not run.ended:
        with pausing(screen, database, run.id), Driver(screen, database, build(), deciding) as driver:
            run = driver.resume(run.id)
    show_outcome(screen, run, database)
    return run


def _choice(
    approve: bool, reject: bool, why: str | None, edit: Path | None, feedback: str | None, yes: bool
) -> PlanChoice | None:
    given = {"--approve": approve, "--reject": reject, "--edit": edit, "--feedback": feedback, "--yes": yes}
    named = [option for option, value in given.items() if value]
    if len(named) > 1:
        raise InputError(named[1], f"give one decision, not {' and '.join(named)}")
    if why is not None and not reject:
        raise InputError("WHY", f"{why!r} belongs behind --reject; quote a text of several words")
    if edit is not None:
        return PlanChoice("edit", plan=read_plan_file("--edit", edit))
    if feedback is not None:
        return PlanChoice("feedback", feedback)
    if reject:
        return PlanChoice("reject", why)
    return PlanChoice("approve") if approve else None
