"""`planner-executor show`: everything about one run."""

import json
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from graph.cli import options
from graph.cli.exits import reported
from graph.cli.listing import local_time
from graph.cli.outcome import headline, pretty, reports
from graph.cli.reading import Told, told
from graph.cli.requests import DIGEST_CHARACTERS, command
from graph.cli.screen import Screen
from graph.plan.render import plan_text
from graph.run.results import StepResult
from graph.run.values import to_text
from graph.terminal import one_line

VALUE_CHARACTERS = 160

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]


def show(run: options.RunName, as_json: AsJson = False, db: options.Database = options.DATABASE) -> None:
    """Show one run: goal, plan, results, decisions and answer."""
    screen = Screen.here()
    with reported(screen):
        found = told(db, run)
        if as_json:
            screen.say(json.dumps(as_data(found), indent=2))
            return
        for line in lines(found, screen.columns):
            screen.say(line)
        if not found.run.ended:
            screen.say()
            screen.say(f"go on with: {command('resume', found.run.id, db)}")


def as_data(found: Told) -> dict[str, Any]:
    """Return the run as JSON."""
    run = found.run
    return {
        "run": run.id,
        "goal": run.goal,
        "constraints": list(run.constraints),
        "status": run.status,
        "reason": run.reason,
        "answer": run.answer,
        "revision": run.revision,
        "digest": run.plan.digest if run.plan else None,
        "plan": run.plan.to_json() if run.plan else None,
        "steps": statuses(found),
        "results": {step: result.to_json() for step, result in run.results.items()},
        "decisions": decisions(found),
        "setup": dict(run.setup),
        "started_at": run.started_at,
        "updated_at": run.updated_at,
    }


def lines(found: Told, columns: int) -> Iterator[str]:
    """Yield the run as text."""
    run = found.run
    yield f"run     {run.id}"
    yield f"goal    {run.goal}"
    yield from (f"respect {constraint}" for constraint in run.constraints)
    yield f"status  {headline(run)}"
    yield f"time    {local_time(run.started_at)} to {local_time(run.updated_at)}"
    if run.plan is not None:
        yield f"\nplan, revision {run.revision}, digest {run.plan.digest[:DIGEST_CHARACTERS]}\n"
        yield plan_text(run.plan, statuses(found), width=columns)
    if run.results:
        yield "\nresults\n"
        yield from (f"{step} {result_line(result)}" for step, result in run.results.items())
    if made := decisions(found):
        yield "\ndecisions\n"
        yield from map(decision_line, made)
    if run.answer is not None:
        yield f"\nanswer\n\n{pretty(run.answer)}"
    if written := reports(run):
        yield ""
        yield from (f"report: {path}" for path in written)


def statuses(found: Told) -> dict[str, str]:
    """Return step id -> status; a call without an outcome makes its step running, interrupted or uncertain."""
    word = {"paused": "interrupted", "waiting": "uncertain"}.get(found.run.status, "running")
    words = found.run.step_status
    open_calls = (call for call in found.record.calls.values() if call.result is None and not call.nothing_happened)
    for call in () if found.run.ended else open_calls:
        if words.get(call.step) == "pending":
            words[call.step] = word if call.doubtful or word != "uncertain" else "interrupted"
    return words


def decisions(found: Told) -> list[dict[str, Any]]:
    """Return who decided what about which digest, in order."""
    revisions: dict[str, int] = {}
    made = []
    for event in found.events:
        told = event.payload
        if event.kind == "plan_revised":
            revisions[told["digest"]] = told["revision"]
        elif event.kind == "decided":
            named = {name: told[name] for name in ("decision", "by", "approver", "digest", "message")}
            made.append({"at": event.at, **named, "revision": revisions.get(told["digest"])})
    return made


def decision_line(made: dict[str, Any]) -> str:
    """Return a decision on one line."""
    by = "a person" if made["by"] == "person" else f"the {made['by']}"
    about = (
        f"revision {made['revision']}, digest {made['digest'][:DIGEST_CHARACTERS]}"
        if made["digest"]
        else "a plan that cannot run"
    )
    words = f": {one_line(made['message'])}" if made["message"] and made["message"] != made["decision"] else ""
    return f"{local_time(made['at'])} {made['decision']} by {by}, {about}{words}"


def result_line(result: StepResult) -> str:
    """Return what a step came to on one line, its value cut."""
    took = ""
    if result.started_at is not None and result.ended_at is not None:
        took = f" in {result.ended_at - result.started_at:.1f} s"
    if result.status != "succeeded":
        return f"{result.status}{took}: {one_line(result.error or '')}"
    if result.artifact is not None:
        shown = f"{result.artifact['size']} bytes: {result.artifact['preview']}"
        return f"succeeded{took}: {one_line(shown, VALUE_CHARACTERS)}"
    return f"succeeded{took}: {one_line(to_text(result.value), VALUE_CHARACTERS)}"
