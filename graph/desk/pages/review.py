"""Deciding: the open request of a run, the response to it, and the page if the request is no longer open."""

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from planner_executor.graph.desk.decisions import (
    COMMENT,
    call_faults,
    edited_arguments,
    edited_plan,
    named_calls,
    response_in,
)
from planner_executor.graph.desk.pages.respond import Form, changes, desk_of, go_to, page, run_link, shows, visitor_of
from planner_executor.graph.desk.pages.run_page import drawing_of, int_of, run_page, shown_run
from planner_executor.graph.desk.records import Records, ShownRun
from planner_executor.graph.desk.security.visitor import verified
from planner_executor.graph.desk.threads import on_thread
from planner_executor.graph.desk.views.event_part import Part, part_of_event
from planner_executor.graph.desk.views.new_steps import FIRST, KIND_FORMS, new_steps
from planner_executor.graph.desk.views.plan_form import (
    FormFault,
    StepForm,
    Tools,
    answer_text,
    argument_fields,
    by_step,
    changes_of,
    found_steps,
    plan_as_text,
    read_edit,
    step_forms,
    step_list,
)
from planner_executor.graph.desk.views.request import RequestView, request_view
from planner_executor.graph.desk.views.revisions import (
    argument_changes,
    plan_of_revision,
    revision_rows,
    step_changes,
)
from planner_executor.graph.desk.views.standing_form import BOUNDS
from planner_executor.graph.desk.views.step_marks import step_marks
from planner_executor.graph.desk.views.what_follows import what_follows
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
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.policy.playbook_approval import playbook_fault
from planner_executor.graph.review.request import digest_of_all
from planner_executor.graph.review.response import RequestJson, build_response
from planner_executor.graph.runs.stored_responses import store_response
from planner_executor.graph.settings.identity import named
from planner_executor.graph.text.event_text import event_text
from planner_executor.graph.text.inbox import left_in_words

FAULTY = "nothing is decided: the plan as you edited it has faults"
INLINE_STEPS = 30
"""Of a plan with more steps, the panel of a step is fetched when it is opened."""
MOST_FOUND = 20
Check = Mapping[str, Any]
"""What is wrong with an edit, `faults` by step and `wrong` as a whole, or what it `changes`."""


@shows
async def review(request: Request) -> Response:
    """Show the open request of a run."""
    _, shown = await shown_run(request)
    if shown.run.status != "waiting":
        return go_to(run_link(request, "", shown.run.id))
    return await review_page(request, shown)


@shows
async def edit(request: Request) -> Response:
    """Send a part of the form of a plan: a step's panel, the fields of other tools, or steps that are looked for."""
    _, shown = await shown_run(request)
    tools, wanted = await _tools(request, shown), request.query_params

    def made() -> Response:
        view = request_view(shown, tools)
        if view is None or view.plan is None:
            raise InputError("plan", "the run asks about no plan any more; reload its page")
        step = next((one for one in step_list(view.plan) if one.get("id") == wanted.get("step")), {})
        values = {
            **_edit_values(shown, view, {}, tools, wanted.get("step", "")),
            "run": shown.run,
            "key": wanted.get("key", ""),
            "args": argument_fields(step or {wanted.get("kind", FIRST): ""}, wanted.get("does", ""), tools),
            "found": found_steps(view.plan, wanted.get("find-step", ""))[:MOST_FOUND],
            "text": plan_as_text(shown, view.plan) if wanted.get("text") else "",
        }
        return page(request, "_edit_part.html", given={}, **values)

    async with shown.reading:
        return await on_thread(made)


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
    tools, given, opened = await _tools(request, shown), fields or {}, request.query_params.get("step", "")

    def values() -> Mapping[str, Any]:
        view, plan = request_view(shown, tools), shown.run.plan
        return {
            "view": view,
            "given": given,
            "wrong": fault,
            "check": check,
            "drawing": _drawing(request, shown, plan, tools) if plan is not None else None,
            "bounds": BOUNDS,
            "ahead": sorted(plan.params) if plan is not None and _is_of_playbook(shown, view, plan) else None,
            "left": left_in_words,
            "has_voted": _has_voted(request, shown),
            "looks": shown.record.calls.named_looks,
            **_edit_values(shown, view, given, tools, opened),
        }

    return await run_page(request, "run_review.html", "review", shown, values, status)


def _drawing(request: Request, shown: ShownRun, plan: Plan, tools: Tools) -> Markup | None:
    return drawing_of(request, shown, step_marks(shown, plan, tools), page="/review")


def _is_of_playbook(shown: ShownRun, view: RequestView | None, plan: Plan) -> bool:
    """Whether the plan is shown for approval as a playbook has it, so that further runs can be approved with it."""
    return view is not None and "run_plan" in view.names and playbook_fault(shown.record, plan) is None


def _has_voted(request: Request, shown: ShownRun) -> bool:
    """Whether the visitor has approved the open request, which takes others too."""
    asked, person = shown.record.review_state.request, named(visitor_of(request).person, verified).person
    return asked is not None and person in shown.record.people.votes.get(asked.subject, {})


async def _tools(request: Request, shown: ShownRun) -> Tools:
    records = await desk_of(request).records()
    return await tools_of(records.runs.ledger, shown.record)


def _edit_values(
    shown: ShownRun, view: RequestView | None, given: Mapping[str, str], tools: Tools, opened: str
) -> dict[str, Any]:
    """Return what the form of a plan shows; a large one has the panels of the step that is opened and of those sent."""
    plan = view.plan if view is not None and view.plan is not None else {}
    steps, added = step_list(plan), {f"new:{key}": form for key, form in new_steps(given).items()}
    is_large = len(steps) > INLINE_STEPS
    if is_large:
        sent = {name.split(":")[1] for name in given if name.startswith(("step:", COMMENT))}
        steps = [step for step in steps if step.get("id") == opened or step.get("id") in sent]
    forms = step_forms(steps, frozenset(shown.record.steps.succeeded), tools, given)
    by_id, order = {one.id: one for one in forms}, given.get("order", "").split(",")
    new = {
        key: argument_fields({form.get("kind", FIRST): ""}, form.get("does", ""), tools) for key, form in added.items()
    }
    return {
        "can_edit": bool(plan),
        "objectives": {str(step.get("id")): step.get("objective") for step in step_list(plan)},
        "is_large": is_large,
        "opened": opened,
        "is_open": bool(opened or given.get("decision") in ("edit", "preview") or _has_comment(given)),
        "forms_by_id": by_id,
        "added": added,
        "new_args": new,
        "form_order": [key for key in dict.fromkeys((*order, *by_id, *added)) if key in by_id or key in added],
        "befores": {} if is_large else _befores(forms, added),
        "follows": {one.id: what_follows(shown, one.id) for one in forms},
        "origins": view.origins if view is not None else {},
        "kinds": KIND_FORMS,
        "first_kind": FIRST,
        "tool_names": sorted(tools),
        "answer": answer_text(plan.get("answer")),
        "text": given.get("plan") or (plan_as_text(shown, plan) if plan and not is_large else ""),
        "found": found_steps(plan, "")[:MOST_FOUND] if is_large else (),
    }


def _has_comment(given: Mapping[str, str]) -> bool:
    return any(text for name, text in given.items() if name.startswith(COMMENT))


def _befores(forms: Sequence[StepForm], added: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Return the steps that another one may wait for: key -> objective."""
    known = {one.id: one.objective or one.id for one in forms}
    return known | {key: form.get("objective") or form.get("id", "") for key, form in added.items()}


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
    tools = await _tools(request, shown)
    try:
        if form.get("decision") == "preview":
            check = await _checked(shown, form, tools)
            return await review_page(request, shown, fields, check["wrong"], check=check)
        answer = await _answer(shown, shown.run.request, form, tools)
        if form.get("decision") == "edit" and (check := await _checked(shown, form, tools))["faults"]:
            return await review_page(request, shown, fields, FAULTY, 422, check)
        return await _carried_out(request, records, shown, answer, fields)
    except InputError as error:
        return await review_page(request, shown, fields, str(error), 422)


async def _checked(shown: ShownRun, form: Form, tools: Tools, call: str = "") -> Check:
    async with shown.reading:
        return await on_thread(lambda: _check(shown, form, tools, call))


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
    """Validate an edited plan or call while it is typed; each fault is shown at its field."""
    _, shown = await shown_run(request)
    tools = await _tools(request, shown)
    return page(request, "_faults.html", **await _checked(shown, form, tools, request.query_params.get("call", "")))


def _check(shown: ShownRun, form: Form, tools: Tools, call: str) -> Check:
    """Return what is wrong with an edited plan, or with the call of this name, or what it changes."""
    fields = form.after("")
    nothing = {"faults": {}, "wrong": "", "diff": "", "changes": (), "is_plan": not call}
    if (asked := shown.run.request) is None:
        return {**nothing, "wrong": "the run waits for no decision any more"}
    try:
        return {**nothing, **(_of_call(asked, call, fields, tools) if call else _of_plan(shown, fields, tools))}
    except InputError as error:
        return {**nothing, "wrong": str(error)}
    except (TypeError, ValueError, AgentError) as error:
        return {**nothing, "wrong": f"it cannot be read: {error}"}


def _of_plan(shown: ShownRun, fields: Mapping[str, str], tools: Tools) -> Check:
    assert shown.run.request is not None
    edited = edited_plan(shown.run.request, fields, tools)
    parsed = read_edit(shown, edited, tools)
    keys = {form.get("id", ""): f"new:{number}:" for number, form in new_steps(fields).items()}
    changes = step_changes(shown.run.plan, parsed.plan) if parsed.plan is not None else ()
    faults = by_step(parsed.issues, edited, tools, keys)
    return {"faults": faults, "diff": changes_of(shown.run.plan, parsed), "changes": changes}


def _of_call(asked: RequestJson, name: str, fields: Mapping[str, str], tools: Tools) -> Check:
    action = named_calls(asked).get(name)
    if action is None:
        raise InputError("call", f"there is no call {name!r} to decide; reload the page")
    args = edited_arguments(name, action["args"], fields, tools)
    found = [
        FormFault(name, f"call:{name}:args{field.name if field is not None else ''}", field.label if field else "", why)
        for field, why in call_faults(action["args"], args, tools)
    ]
    change = argument_changes(name, action["args"].get("args") or {}, args)
    return {"faults": {name: found} if found else {}, "diff": name if change else "", "changes": change}
