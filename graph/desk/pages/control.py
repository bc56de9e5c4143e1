"""Forms that change a run outside of a review: pause, continue, steer, cancel, retry, fork, skip, supply."""

import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from planner_executor.graph.desk.decisions import check_fields, limits_in
from planner_executor.graph.desk.drives import Work
from planner_executor.graph.desk.pages.respond import Form, changes, desk_of, go_to, page, run_link, shows, visitor_of
from planner_executor.graph.desk.pages.run_page import run_view, shown_run
from planner_executor.graph.desk.records import Records, ShownRun
from planner_executor.graph.desk.security.visitor import verified
from planner_executor.graph.desk.views.schema_form import faults_in, value_in
from planner_executor.graph.desk.views.what_follows import result_fields
from planner_executor.graph.errors import InputError
from planner_executor.graph.plan.depth import parse_json_or_text
from planner_executor.graph.record.amendment import Amendment
from planner_executor.graph.record.person import Approver
from planner_executor.graph.runs.step_changes import skip_step, supply_result
from planner_executor.graph.settings.identity import named

Act = Callable[[Request, Records, ShownRun, Form], Awaitable[str | None]]
"""Carries out an action of the form, and returns the id of the run to show next if it is another one."""


@changes
async def control(request: Request, form: Form) -> Response:
    """Carry out the action that a form names."""
    records, shown = await shown_run(request)
    act = ACTS.get(form.get("act"))
    if act is None:
        raise InputError("act", f"there is no action {form.get('act')!r}; reload the page")
    run = await act(request, records, shown, form) or shown.run.id
    # The page that sent the form is that of the review, which goes on without the step.
    is_reviewed = form.get("act") in ("skip", "supply") and shown.run.status == "waiting"
    return go_to(run_link(request, "/review" if is_reviewed else "", run))


@run_view("run_more.html", "more")
def more(_: Request, __: ShownRun) -> Mapping[str, Any]:
    """Show the forms to steer, retry and fork a run."""
    return {}


async def _pause(request: Request, records: Records, shown: ShownRun, __: Form) -> None:
    await records.runs.pause(shown.run.id, str(_actor(request)))


async def _cancel(request: Request, records: Records, shown: ShownRun, __: Form) -> None:
    await records.runs.cancel(shown.run.id, str(_actor(request)))


async def _continue(request: Request, records: Records, shown: ShownRun, _: Form) -> None:
    person = visitor_of(request).person
    await drive(request, records, shown, lambda opened: opened.agent.resume(shown.run.id, by=person))


async def _steer(request: Request, records: Records, shown: ShownRun, form: Form) -> None:
    """Amend a run: it is planned again here, or by the process that executes or continues it."""
    add = [line.strip() for line in form.get("add").split("\n") if line.strip()]
    numbers = {value for name, value in form.fields if name == "withdraw"}
    withdraw = [one for number, one in enumerate(shown.run.constraints) if str(number) in numbers]
    feedback = form.get("feedback") or None
    amendment = Amendment(tuple(add), tuple(withdraw), feedback, str(_actor(request)))
    if amendment.fault:
        raise InputError("steer", amendment.fault)
    # Whoever works on it reads the amendment; a desk that cannot carry it on leaves it on record.
    if shown.executing or not await desk_of(request).carries_on(shown):
        await records.runs.steer(shown.run.id, amendment)
        return
    run, by = shown.run.id, visitor_of(request).person
    await drive(
        request,
        records,
        shown,
        lambda opened: opened.agent.steer(run, add=add, withdraw=withdraw, feedback=feedback, by=by),
    )


async def _retry(request: Request, records: Records, shown: ShownRun, form: Form) -> None:
    limits, feedback = limits_in(form.after("")), form.get("feedback") or None
    run, by = shown.run.id, visitor_of(request).person
    await drive(
        request, records, shown, lambda opened: opened.agent.retry(run, limits=limits, feedback=feedback, by=by)
    )


async def _fork(request: Request, records: Records, shown: ShownRun, form: Form) -> str:
    """Fork a run from a step on, with a result of the person's own if there is one."""
    step, thread = form.get("step"), secrets.token_hex(4)
    if shown.run.plan is None or step not in shown.run.plan.by_id:
        raise InputError("step", f"{shown.run.id} has no step {step!r}; choose one of its list")
    given = form.get("value")
    values = {form.get("value_of") or step: parse_json_or_text(given)} if given else {}
    run, by = shown.run.id, visitor_of(request).person
    await drive(
        request,
        records,
        shown,
        lambda opened: opened.agent.fork(run, step, values=values, thread=thread, by=by),
        thread,
    )
    key = await records.runs.ledger.last_run(thread)
    return key.id if key is not None else shown.run.id


async def _skip(request: Request, records: Records, shown: ShownRun, form: Form) -> None:
    step = request.query_params.get("step", "")
    await skip_step(records.runs, shown.run.id, step, form.get(f"why:{step}"), _actor(request))


async def _supply(request: Request, records: Records, shown: ShownRun, form: Form) -> None:
    """Take a result that a person gives; one that does not fit is refused with the names of its fields."""
    name = request.query_params.get("step", "")
    step = shown.run.plan.by_id.get(name) if shown.run.plan is not None else None
    fields, texts = result_fields(step) if step is not None else (), form.after(f"supply:{name}")
    if not any(texts.values()):
        raise InputError("result", f"give the result of {name}")
    value = value_in(fields, None, texts)
    check_fields(name, faults_in(step.output if step is not None else None, value, fields))
    await supply_result(records.runs, shown.run.id, name, value, _actor(request))


def _actor(request: Request) -> Approver:
    """Return who sends a request."""
    return named(visitor_of(request).person, verified)


async def drive(
    request: Request, records: Records, shown: ShownRun | None, work: Work, thread: str | None = None
) -> None:
    """Continue a run here, or start one on a `thread`, also as a fork of it, and wait until that is on record.

    Raises:
        InputError: This desk does not.
    """
    desk, run = desk_of(request), None if shown is None else shown.run
    if (drives := desk.drives) is None:
        raise InputError("desk", "this desk continues no runs; do it where the run was started")
    if thread is not None or shown is None:
        # A new run: its record is waited for, not that of the run it was made of.
        thread, key, seq = str(thread), None, 0
    elif await desk.carries_on(shown):
        thread, key, seq = shown.key.thread, shown.key, shown.seq
    else:
        where = "continue it there, or with planner-executor work --server"
        raise InputError("run", f"{shown.run.id} belongs to a LangGraph server; {where}")
    await drives.settled(drives.begin(thread, run, work), thread, records.runs, key, seq)


ACTS: Mapping[str, Act] = {
    "pause": _pause,
    "continue": _continue,
    "cancel": _cancel,
    "steer": _steer,
    "retry": _retry,
    "fork": _fork,
    "skip": _skip,
    "supply": _supply,
}
"""The actions of a form."""


@shows
async def policy(request: Request) -> Response:
    """Show the policy of runs that are started here."""
    in_force = desk_of(request).policy
    return page(request, "policy.html", view=await in_force() if in_force is not None else None)
