"""`planner-executor show`: details of one run."""

import json
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from planner_executor.graph.cli import options
from planner_executor.graph.cli.command_line import command
from planner_executor.graph.cli.exit_codes import on_screen
from planner_executor.graph.cli.outcome import headline, pretty, reports
from planner_executor.graph.cli.recorded_run import RecordedRun, recorded_run
from planner_executor.graph.cli.screen import DIGEST_CHARACTERS, Screen
from planner_executor.graph.cli.status_view import asked
from planner_executor.graph.plain_text.sanitize import escaped, margined, one_line
from planner_executor.graph.record.budget import spent_in_words
from planner_executor.graph.record.events import Decided, PlanRevised, ValueRedacted
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.step_costs import step_costs
from planner_executor.graph.record.values import to_text
from planner_executor.graph.review.response import describe_action
from planner_executor.graph.text.drawing.text import plan_text
from planner_executor.graph.text.event_text import event_text as in_words
from planner_executor.graph.text.event_text.values import playbook_text
from planner_executor.graph.words.times import local_time

VALUE_CHARACTERS, WORDS_CHARACTERS = 160, 500


@on_screen
def show(
    screen: Screen,
    run: options.RunName,
    as_json: options.AsJson = False,
    step: Annotated[
        str | None,
        typer.Option(
            "--value",
            metavar="STEP",
            help="Print only the full result of this step, or of a look: 'look 1'.",
            callback=options.text,
        ),
    ] = None,
    answer: Annotated[bool, typer.Option("--answer", help="Print only the full answer.")] = False,
    db: options.Database = options.DATABASE,
) -> None:
    """Show a run: goal, plan, results, decisions and answer; or one result in full."""
    if step is not None or answer:
        from planner_executor.graph.cli.run_lookup import with_run  # a ledger, which reads artifacts

        value = with_run(db, run, lambda runs: runs.value(run, step))
        screen.write(json.dumps(value) if as_json else pretty(value))
        return
    found = recorded_run(db, run)
    if as_json:
        screen.show_json(as_data(found))
        return
    for line in lines(found, screen.columns):
        screen.show_fact(line)
    if not found.run.ended:
        screen.say()
        screen.say("continue with:", whole=command("resume", found.run.id, db, found.run.setup))


def as_data(found: RecordedRun) -> dict[str, Any]:
    """Return the run as JSON-compatible data."""
    run = found.run
    return {
        "run": run.id,
        "goal": run.goal,
        "constraints": list(run.constraints),
        # Left out rather than null: most runs have none.
        **({"playbook": dict(ran)} if (ran := found.record.assignment.started.playbook) else {}),
        "status": run.status,
        "reason": run.reason,
        "answer": run.answer,
        "revision": run.revision,
        "digest": found.record.plan_state.digest,
        "plan": run.plan.to_json() if run.plan else None,
        "steps": run.step_status,
        "results": {step: result.to_json() for step, result in run.results.items()},
        "decisions": decisions(found),
        "asked": list(asked(found)),
        "until": until(found),
        "costs": {step: cost.to_json() for step, cost in step_costs(found.events).items()},
        "unjudged": found.record.steps.unjudged(run.plan) if run.plan else [],
        "standing": [use.to_json() for use in run.standing],
        "usage": found.record.spent.to_json(),
        **({"reserved": aside} if (aside := found.record.spending.aside.to_json()) else {}),
        "budget": found.record.bounds.to_json(),
        **({"said": dict(run.said), "spent": dict(run.spent or {})} if run.said is not None else {}),
        "setup": dict(run.setup),
        **({"unproven_setup": dict(run.unproven_setup)} if run.unproven_setup else {}),
        "started_at": run.started_at,
        "updated_at": run.updated_at,
    }


def lines(found: RecordedRun, columns: int) -> Iterator[str]:
    """Yield the lines of the run's details; untrusted text never starts a line (decision 0030)."""
    run = found.run
    yield f"run     {escaped(run.id)}"
    yield f"goal    {escaped(run.goal)}"
    if ran := found.record.assignment.started.playbook:
        yield f"from    {escaped(f'the playbook {playbook_text(ran)}')}"
    # Words from outside stand behind a label of ours: no line of theirs can pass for a status or a digest.
    yield from (f"respect {escaped(constraint)}" for constraint in run.constraints)
    yield f"status  {escaped(headline(run))}"
    yield f"time    {local_time(run.started_at)} to {local_time(run.updated_at)}"
    spent = spent_in_words(found.record.bounds, found.record.spent, found.record.spending.aside)
    yield from (f"spent   {escaped(line)}" for line in (spent, run.compared) if line)
    yield from (f"ahead   {escaped(line)}" for line in run.approved_ahead)
    yield from (f"note    {in_words(event).sentence}" for event in found.events if event.kind == ValueRedacted.kind)
    if run.plan is not None:
        yield f"\nplan, revision {run.revision}, digest {str(found.record.plan_state.digest)[:DIGEST_CHARACTERS]}\n"
        # The drawing escapes its own texts, as everybody who draws a plan needs it so.
        yield plan_text(run.plan, run.step_status, width=columns)
    if run.results:
        yield "\nresults\n"
        yield from (f"{step} {result_line(result)}" for step, result in run.results.items())
    if costs := step_costs(found.events):
        yield "\ncost per step\n"
        yield from (f"{escaped(step)} {cost}" for step, cost in costs.items())
    if run.plan is not None and (unjudged := found.record.steps.unjudged(run.plan)):
        yield f"\nsuccess criteria not judged: {', '.join(unjudged)}"
    if made := decisions(found):
        yield "\ndecisions\n"
        yield from map(decision_line, made)
    if waits := asked(found):
        at = until(found)
        yield f"\nto decide{f' until {local_time(at)}' if at is not None else ''}\n"
        yield from map(describe_action, waits)
    if run.answer is not None:
        yield f"\nanswer\n\n{margined(pretty(run.answer))}"
    if written := reports(run):
        yield ""
        yield from (f"report: {escaped(path)}" for path in written)


def until(found: RecordedRun) -> float | None:
    """Return until when the open request may be decided, in Unix seconds; None without a limit, or a request."""
    request = found.record.review_state.request
    return request.shown.deadline.until if request is not None and request.shown.deadline is not None else None


def decisions(found: RecordedRun) -> list[dict[str, Any]]:
    """Return the decisions in order, each with author, digest and revision."""
    revisions: dict[str, int] = {}
    made = []
    for event in found.events:
        data = event.data
        if isinstance(data, PlanRevised):
            revisions[data.digest] = data.revision
        elif isinstance(data, Decided):
            named = {name: getattr(data, name) for name in ("decision", "by", "approver", "digest", "message")}
            made.append({"at": event.at, **named, "revision": revisions.get(data.digest or "")})
    return made


def decision_line(made: dict[str, Any]) -> str:
    """Return a decision on one line."""
    who = {
        "person": f"a person, {made['approver']}",
        "unseen": f"{made['approver']}, unseen",
        "standing": f"a standing approval of {made['approver']}",
    }
    by = escaped(who.get(made["by"], f"the {made['by']}"))
    about = (
        f"revision {made['revision']}, digest {made['digest'][:DIGEST_CHARACTERS]}"
        if made["digest"]
        else "no valid plan"
    )
    words = (
        f": {one_line(made['message'], WORDS_CHARACTERS)}"
        if made["message"] and made["message"] != made["decision"]
        else ""
    )
    return f"{local_time(made['at'])} {made['decision']} by {by}, {about}{words}"


def result_line(result: StepResult) -> str:
    """Return a step's result on one line, its value shortened."""
    took = f" in {result.seconds:.1f} s" if result.seconds is not None else ""
    if result.status != "succeeded":
        return f"{result.status}{took}: {one_line(result.error or '', WORDS_CHARACTERS)}"
    if result.artifact is not None:
        shown = f"{result.artifact['size']} bytes: {result.artifact['preview']}"
        return f"succeeded{took}: {one_line(shown, VALUE_CHARACTERS)}"
    return f"succeeded{took}: {one_line(to_text(result.value), VALUE_CHARACTERS)}"
