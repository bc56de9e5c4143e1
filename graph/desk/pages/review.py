"""Deciding: the open request of a run, the response to it, and the page if the request is no longer open."""

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from planner_executor.graph.desk.decisions import response_in
from planner_executor.graph.desk.pages.editing import Check, checked, edit_values, tools_shown
from planner_executor.graph.desk.pages.respond import Form, changes, desk_of, go_to, run_link, shows, visitor_of
from planner_executor.graph.desk.pages.run_page import drawing_of, int_of, run_page, shown_run
from planner_executor.graph.desk.records import Records, ShownRun
from planner_executor.graph.desk.security.visitor import verified
from planner_executor.graph.desk.threads import on_thread
from planner_executor.graph.desk.views.event_part import Part, part_of_event
from planner_executor.graph.desk.views.request import RequestView, request_view
from planner_executor.graph.desk.views.revisions import plan_of_revision, revisions_in, step_changes
from planner_executor.graph.desk.views.standing_form import BOUNDS
from planner_executor.graph.desk.views.step_form import Tools
from planner_executor.graph.desk.views.step_marks import step_marks
from planner_executor.graph.errors import (
    AgentError,
    InputError,
    LedgerError,
    NothingToDecideError,
    RunOwnedError,
    StaleRunError,
)
from planner_executor.graph.nodes.run.review_clock import refuse_late
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.policy.playbook_approval import playbook_fault
from planner_executor.graph.review.request_json import RequestJson, digest_of_all
from planner_executor.graph.review.response import build_response
from planner_executor.graph.runs.stored_responses import store_response
from planner_executor.graph.settings.identity import named
from planner_executor.graph.text.event_text import event_text
from planner_executor.graph.text.inbox import left_in_words

FAULTY = "nothing is decided: the plan as you edited it has faults"


@shows
async def review(request: Request) -> Response:
    """Show the open request of a run."""
    _, shown = await shown_run(request)
    if shown.run.status != "waiting":
        return go_to(run_link(request, "", shown.run.id))
    return await review_page(request, shown)


async def review_page(
    request: Request,
    shown: ShownRun,
    fields: Mapping[str, str] | None = None,
    fault: str = "",
    status: int = 200,
    check: Check | None = None,
) -> Response:
    """Return the page of the open request; with what a person filled in before, and what is wrong with it.

    `check` is about a plan or a call that they edited.
    """
    tools, given, opened = await tools_shown(request, shown), fields or {}, request.query_params.get("step", "")

    def values() -> Mapping[str, Any]:
        view, plan = request_view(shown, tools), shown.run.plan
        return {
            "view": view,
            "given": given,
            "wrong": fault,
            "check": check,
            "drawing": drawing_of(request, shown, step_marks(shown, plan, tools), page="/review") if plan else None,
            "bounds": BOUNDS,
            "ahead": sorted(plan.params) if plan is not None and _is_of_playbook(shown, view, plan) else None,
            "left": left_in_words,
            "has_voted": _has_voted(request, shown),
            "looks": shown.record.calls.named_looks,
            **edit_values(shown, view, given, tools, opened),
        }

    return await run_page(request, "run_review.html", "review", shown, values, status)


def _is_of_playbook(shown: ShownRun, view: RequestView | None, plan: Plan) -> bool:
    """Whether the plan is shown for approval as a playbook has it, so that further runs can be approved with it."""
    return view is not None and "run_plan" in view.names and playbook_fault(shown.record, plan) is None


def _has_voted(request: Request, shown: ShownRun) -> bool:
    """Whether the visitor has approved the open request, which takes others too."""
    asked, person = shown.record.review_state.request, named(visitor_of(request).person, verified).person
    return asked is not None and person in shown.record.people.votes.get(asked.shown.subject, {})


@changes
async def decide(request: Request, form: Form) -> Response:
    """Carry out a decision about the request that the page showed, and about no other."""
    records, shown = await shown_run(request)
    view, fields = request_view(shown), dict(form.fields)
    seen = int_of(form.get("seen"))
    # A decision is about what the page showed: a request that was asked anew meanwhile is another one.
    if view is None or view.digest != form.get("digest"):
        said, by = {"decision": form.get("decision")}, named(visitor_of(request).person, verified)
        is_late = view is None and await refuse_late(records.runs.ledger, shown.key, said, by) is not None
        return await stale_page(request, await records.show(shown.run.id) if is_late else shown, seen)
    tools = await tools_shown(request, shown)
    try:
        if form.get("decision") == "preview":
            check = await checked(request, shown, form)
            return await review_page(request, shown, fields, check["wrong"], check=check)
        answer = await _answer(shown, shown.run.open_request, form, tools)
        # Asked here too, so that each fault stands at its field; the review asks again, whatever an edit comes by.
        if form.get("decision") == "edit" and (check := await checked(request, shown, form))["faults"]:
            return await review_page(request, shown, fields, FAULTY, 422, check)
        return await _carried_out(request, records, shown, answer, fields)
    except InputError as error:
        return await review_page(request, shown, fields, str(error), 422)


async def _answer(shown: ShownRun, asked: RequestJson, form: Form, tools: Tools) -> Mapping[str, Any]:
    async with shown.reading:
        return await on_thread(lambda: build_response(asked, response_in(shown, asked, form.after(""), tools)))


async def _carried_out(
    request: Request, records: Records, shown: ShownRun, answer: Mapping[str, Any], fields: Mapping[str, str]
) -> Response:
    """Carry a decision out; what is refused is asked again, with what was filled in."""
    run, seen = shown.run, int_of(fields.get("seen", ""))
    try:
        await carry_out(request, records, shown, answer)
    except (RunOwnedError, NothingToDecideError, StaleRunError):
        # Somebody else was faster, or the request is another by now: the
        # person sees what there is before deciding again.
        return await stale_page(request, await records.show(run.id), seen)
    after = await records.show(run.id)
    # The run has moved and asks with an error: this very answer was turned down.
    if after.run.request is not None and after.run.request["error"] and after.seq > shown.seq:
        # What was filled in belongs to the request that was shown, and not to another.
        is_same = digest_of_all(after.run.request) == fields.get("digest")
        return await review_page(request, after, fields if is_same else {}, status=422)
    return go_to(run_link(request, "", run.id))


async def carry_out(request: Request, records: Records, shown: ShownRun, answer: Mapping[str, Any]) -> None:
    """Carry a decision out in this process, or store it for another one.

    Raises:
        RunOwnedError: Another process works on the run.
        NothingToDecideError: It waits for nothing.
        StaleRunError: It was decided meanwhile.
    """
    if not await _driven(request, records, shown, answer):
        await store_response(records.runs, shown.key, answer, named(visitor_of(request).person, verified))


async def _driven(request: Request, records: Records, shown: ShownRun, answer: Mapping[str, Any]) -> bool:
    """Carry out a decision in this process, and return whether that is possible; else the page of the run shows why."""
    desk, person, run = desk_of(request), visitor_of(request).person, shown.run
    if desk.drives is None or not await desk.carries_on(shown):
        return False
    drives = desk.drives
    try:
        future = drives.begin(shown.key.thread, run, lambda opened: opened.agent.resume(run.id, answer, by=person))
        await drives.settled(future, shown.key.thread, records.runs, shown.key, shown.seq)
    except (LedgerError, NothingToDecideError):
        raise  # about the record: to store the decision would fail too, or be wrong
    except AgentError:
        return False  # about this process, such as a missing tool: another one can carry the decision out (decision 91)
    return True


async def stale_page(request: Request, shown: ShownRun, seen: int) -> Response:
    """Return what happened since the page was shown: who decided what, and how the plan changed."""

    def values() -> Mapping[str, Any]:
        since = (event for event in shown.events if event.seq > seen)
        told = [(event, event_text(event)) for event in since if Part.LISTED in part_of_event(event.data_if_known)]
        before = max((data.revision for event, data in revisions_in(shown.events) if event.seq <= seen), default=0)
        plan = shown.run.plan
        changed = step_changes(plan_of_revision(shown.events, before), plan) if plan is not None and before else []
        return {"told": told, "changes": changed, "view": request_view(shown)}

    return await run_page(request, "run_stale.html", "review", shown, values, 409)
