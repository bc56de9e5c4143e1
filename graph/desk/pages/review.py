"""Deciding: the open request of a run, the response to it, and the page if the request is no longer open."""

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from planner_executor.graph.desk.decisions import edited_plan, response_in
from planner_executor.graph.desk.pages.respond import Form, changes, desk_of, go_to, page, run_link, shows, visitor_of
from planner_executor.graph.desk.pages.run_page import drawing_of, int_of, run_page, shown_run
from planner_executor.graph.desk.records import Records, ShownRun
from planner_executor.graph.desk.security.visitor import verified
from planner_executor.graph.desk.threads import on_thread
from planner_executor.graph.desk.views.event_part import Part, part_of_event
from planner_executor.graph.desk.views.new_steps import FIRST, KIND_FORMS, new_steps
from planner_executor.graph.desk.views.plan_form import (
    answer_text,
    by_step,
    changes_of,
    plan_as_text,
    read_edit,
    step_forms,
)
from planner_executor.graph.desk.views.request import request_view
from planner_executor.graph.desk.views.revisions import plan_of_revision, revision_rows, step_changes
from planner_executor.graph.desk.views.standing_form import BOUNDS
from planner_executor.graph.desk.views.step_marks import step_marks
from planner_executor.graph.errors import (
    AgentError,
    InputError,
    LedgerError,
    NothingToDecideError,
    RunOwnedError,
    StaleRunError,
)
from planner_executor.graph.ledger.values import tools_of
from planner_executor.graph.nodes.run.review_clock import refuse_late
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.issues import Issue
from planner_executor.graph.review.comments import step_ids
from planner_executor.graph.review.request import digest_of_all
from planner_executor.graph.review.response import RequestJson, build_response
from planner_executor.graph.runs.stored_responses import store_response
from planner_executor.graph.settings.identity import named
from planner_executor.graph.text.event_text import event_text
from planner_executor.graph.text.inbox import left_in_words

FAULTY = "nothing is decided: the plan as you edited it has faults"
NO_FAULTS: Mapping[str, Sequence[Issue]] = {}
INLINE_STEPS = 60
"""With more steps the form of the plan is fetched when it is opened."""


@shows
async def review(request: Request) -> Response:
    """Show the open request of a run."""
    _, shown = await shown_run(request)
    if shown.run.status != "waiting":
        return go_to(run_link(request, "", shown.run.id))
    return await review_page(request, shown)


@shows
async def edit(request: Request) -> Response:
    """Send the form of a large plan."""
    _, shown = await shown_run(request)
    tools = await _tools(request, shown)

    def made() -> Response:
        view = request_view(shown)
        if view is None or view.plan is None:
            raise InputError("plan", "the run asks about no plan any more; reload its page")
        values = _edit_values(shown, view.plan, {}, tools, whole=True)
        return page(request, "_edit_form.html", run=shown.run, given={}, **values)

    async with shown.reading:
        return await on_thread(made)


async def review_page(
    request: Request,
    shown: ShownRun,
    fields: Mapping[str, str] | None = None,
    fault: str = "",
    status: int = 200,
    faults: Mapping[str, Sequence[Issue]] = NO_FAULTS,
) -> Response:
    """Return the page of the open request; with what a person filled in before, and what is wrong with it.

    `faults` are those of a plan that they edited, by step.
    """
    tools, given = await _tools(request, shown), fields or {}

    def values() -> Mapping[str, Any]:
        view, plan = request_view(shown), shown.run.plan
        return {
            "view": view,
            "given": given,
            "wrong": fault,
            "faults": faults,
            "drawing": drawing_of(request, shown, step_marks(shown, plan, tools)) if plan is not None else None,
            "bounds": BOUNDS,
            "left": left_in_words,
            "has_voted": _has_voted(request, shown),
            "looks": shown.record.calls.named_looks,
            "steps": step_ids(view.plan)[:INLINE_STEPS] if view is not None else [],
            **_edit_values(shown, view.plan if view is not None else None, given, tools),
        }

    return await run_page(request, "run_review.html", "review", shown, values, status)


def _has_voted(request: Request, shown: ShownRun) -> bool:
    """Whether the visitor has approved the open request, which takes others too."""
    asked, person = shown.record.review_state.request, named(visitor_of(request).person, verified).person
    return asked is not None and person in shown.record.people.votes.get(asked.subject, {})


async def _tools(request: Request, shown: ShownRun) -> Mapping[str, ToolSpec]:
    records = await desk_of(request).records()
    return await tools_of(records.runs.ledger, shown.record)


def _edit_values(
    shown: ShownRun,
    plan: Mapping[str, Any] | None,
    given: Mapping[str, str],
    tools: Mapping[str, ToolSpec],
    *,
    whole: bool = False,
) -> dict[str, Any]:
    """Return what the form of a plan shows; that of a large plan is left out unless it is asked for or was sent."""
    forms = step_forms(plan, frozenset(shown.record.steps.succeeded)) if plan is not None else []
    by_id, added = {one.id: one for one in forms}, {f"new:{key}": form for key, form in new_steps(given).items()}
    order = given.get("order", "").split(",")
    is_large = len(forms) > INLINE_STEPS and given.get("decision") != "edit" and not whole
    return {
        "forms": forms,
        "is_large": is_large,
        "forms_by_id": by_id,
        "added": added,
        "form_order": [key for key in dict.fromkeys((*order, *by_id, *added)) if key in by_id or key in added],
        "kinds": KIND_FORMS,
        "first_kind": FIRST,
        "tool_names": sorted(tools),
        "answer": answer_text(plan.get("answer")) if plan is not None else None,
        "text": given.get("plan") or (plan_as_text(shown, plan) if plan is not None and not is_large else ""),
    }


@changes
async def decide(request: Request, form: Form) -> Response:
    """Carry out a decision about the request that the page showed, and about no other."""
    records, shown = await shown_run(request)
    view, fields = request_view(shown), dict(form.fields)
    seen = int_of(form.get("seen"))
    if view is None or view.digest != form.get("digest"):
        said, by = {"decision": form.get("decision")}, named(visitor_of(request).person, verified)
        is_late = view is None and await refuse_late(records.runs.ledger, shown.key, said, by) is not None
        return await stale_page(request, await records.show(shown.run.id) if is_late else shown, seen)
    assert shown.run.request is not None
    try:
        answer = await _answer(shown, shown.run.request, form)
        if faults := await _faults_of_edit(request, shown, form):
            return await review_page(request, shown, fields, FAULTY, 422, faults)
        return await _carried_out(request, records, shown, answer, fields)
    except InputError as error:
        return await review_page(request, shown, fields, str(error), 422)


async def _faults_of_edit(request: Request, shown: ShownRun, form: Form) -> Mapping[str, Sequence[Issue]]:
    """Return the faults of an edited plan that is sent, by step."""
    if form.get("decision") != "edit":
        return NO_FAULTS
    tools = await _tools(request, shown)
    async with shown.reading:
        found: Mapping[str, Sequence[Issue]] = (await on_thread(lambda: _faults(shown, form, tools)))["faults"]
    return found


async def _answer(shown: ShownRun, asked: RequestJson, form: Form) -> Mapping[str, Any]:
    async with shown.reading:
        return await on_thread(lambda: build_response(asked, response_in(shown, asked, form.after(""))))


async def _carried_out(
    request: Request, records: Records, shown: ShownRun, answer: Mapping[str, Any], fields: Mapping[str, str]
) -> Response:
    """Carry a decision out; what is refused is asked again, with what was filled in."""
    run, seen = shown.run, int_of(fields.get("seen", ""))
    try:
        await carry_out(request, records, shown, answer)
    except (RunOwnedError, NothingToDecideError, StaleRunError):
        return await stale_page(request, await records.show(run.id), seen)
    after = await records.show(run.id)
    if after.run.request is not None and after.run.request["error"] and after.seq > shown.seq:
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
        before = max((revision.number for revision in revision_rows(shown.events) if revision.seq <= seen), default=0)
        plan = shown.run.plan
        changed = step_changes(plan_of_revision(shown.events, before), plan) if plan is not None and before else []
        return {"told": told, "changes": changed, "view": request_view(shown)}

    return await run_page(request, "run_stale.html", "review", shown, values, 409)


@changes
async def check(request: Request, form: Form) -> Response:
    """Validate an edited plan while it is typed; each fault is shown at its step."""
    records, shown = await shown_run(request)
    tools = await tools_of(records.runs.ledger, shown.record)
    async with shown.reading:
        values = await on_thread(lambda: _faults(shown, form, tools))
    return page(request, "_faults.html", **values)


def _faults(shown: ShownRun, form: Form, tools: Mapping[str, ToolSpec]) -> dict[str, Any]:
    """Return what is wrong with an edited plan, by step, or what it changes."""
    nothing = {"faults": {}, "wrong": "", "diff": ""}
    if shown.run.request is None:
        return {**nothing, "wrong": "the run waits for no decision any more"}
    try:
        parsed = read_edit(shown, edited_plan(shown.run.request, form.after("")), tools)
    except InputError as error:
        return {**nothing, "wrong": str(error)}
    except (TypeError, ValueError, AgentError) as error:
        return {**nothing, "wrong": f"the plan cannot be read: {error}"}
    return {**nothing, "faults": by_step(parsed.issues), "diff": changes_of(shown.run.plan, parsed)}
