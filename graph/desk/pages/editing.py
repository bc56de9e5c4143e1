"""The parts of an edit of a plan or a call: panels as they are opened, and what is wrong with it while it is typed."""

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from planner_executor.graph.desk.decisions import COMMENT, call_faults, edited_arguments, edited_plan, named_calls
from planner_executor.graph.desk.pages.respond import Form, changes, desk_of, page, shows
from planner_executor.graph.desk.pages.run_page import shown_run
from planner_executor.graph.desk.records import ShownRun
from planner_executor.graph.desk.threads import on_thread
from planner_executor.graph.desk.views.edit_faults import FormFault, by_step, changes_of, read_edit
from planner_executor.graph.desk.views.new_steps import FIRST, KIND_FORMS, new_steps
from planner_executor.graph.desk.views.plan_form import answer_text, plan_as_text
from planner_executor.graph.desk.views.request import RequestView, request_view
from planner_executor.graph.desk.views.revisions import argument_changes, step_changes
from planner_executor.graph.desk.views.step_form import (
    StepForm,
    Tools,
    argument_fields,
    found_steps,
    step_forms,
    step_list,
)
from planner_executor.graph.desk.views.what_follows import what_follows
from planner_executor.graph.errors import AgentError, InputError
from planner_executor.graph.ledger.recorded_terms import terms_on_record
from planner_executor.graph.ledger.values import tools_of
from planner_executor.graph.policy.approval_scope import ExecutionTerms
from planner_executor.graph.review.request_json import RequestJson

INLINE_STEPS = 30
"""Of a plan with more steps, the panel of a step is fetched when it is opened."""
MOST_FOUND = 20
Check = Mapping[str, Any]
"""What is wrong with an edit, `faults` by step and `wrong` as a whole, or what it `changes`."""


@shows
async def edit(request: Request) -> Response:
    """Send a part of the form of a plan: a step's panel, the fields of other tools, or steps that are looked for."""
    _, shown = await shown_run(request)
    tools, wanted = await tools_shown(request, shown), request.query_params

    def made() -> Response:
        view = request_view(shown, tools)
        if view is None or view.plan is None:
            raise InputError("plan", "the run asks about no plan any more; reload its page")
        # A step that is gone has an empty form: the page is older than the plan.
        step = next((one for one in step_list(view.plan) if one.get("id") == wanted.get("step")), {})
        values = {
            **edit_values(shown, view, {}, tools, wanted.get("step", "")),
            "run": shown.run,
            "key": wanted.get("key", ""),
            "args": argument_fields(step or {wanted.get("kind", FIRST): ""}, wanted.get("does", ""), tools),
            "found": found_steps(view.plan, wanted.get("find-step", ""))[:MOST_FOUND],
            "text": plan_as_text(shown, view.plan) if wanted.get("text") else "",
        }
        return page(request, "_edit_part.html", given={}, **values)

    # One thread reads a run at a time, and the loop serves others meanwhile (decision 103).
    async with shown.reading:
        return await on_thread(made)


@changes
async def check(request: Request, form: Form) -> Response:
    """Validate an edited plan or call while it is typed; each fault is shown at its field."""
    _, shown = await shown_run(request)
    return page(request, "_faults.html", **await checked(request, shown, form, request.query_params.get("call", "")))


async def tools_shown(request: Request, shown: ShownRun) -> Tools:
    """Return the tools of a run, by name."""
    return await tools_of((await desk_of(request).records()).runs.ledger, shown.record)


def edit_values(
    shown: ShownRun, view: RequestView | None, given: Mapping[str, str], tools: Tools, opened: str
) -> dict[str, Any]:
    """Return what the form of a plan shows; a large one has the panels of the step that is opened and of those sent."""
    plan = view.plan if view is not None and view.plan is not None else {}
    steps, added = step_list(plan), {f"new:{key}": form for key, form in new_steps(given).items()}
    is_large = len(steps) > INLINE_STEPS
    if is_large:
        # A panel that was sent is shown again, or what was typed into it would be lost.
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
        # What was sent may name steps that are gone, and lacks those of panels that were never opened.
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


async def checked(request: Request, shown: ShownRun, form: Form, call: str = "") -> Check:
    """Return what is wrong with an edited plan, or with the call of this name, under the terms on record.

    Raises:
        PolicyError: The policy on record cannot be read.
    """
    terms = await terms_on_record((await desk_of(request).records()).runs.ledger, shown.record)
    async with shown.reading:
        return await on_thread(lambda: _check(shown, form, terms, call))


def _check(shown: ShownRun, form: Form, terms: ExecutionTerms, call: str) -> Check:
    fields = form.after("")
    nothing = {"faults": {}, "wrong": "", "diff": "", "changes": (), "is_plan": not call}
    if (asked := shown.run.request) is None:
        return {**nothing, "wrong": "the run waits for no decision any more"}
    try:
        return {**nothing, **(_of_call(asked, call, fields, terms.tools) if call else _of_plan(shown, fields, terms))}
    except InputError as error:
        return {**nothing, "wrong": str(error)}
    except (TypeError, ValueError, AgentError) as error:
        return {**nothing, "wrong": f"it cannot be read: {error}"}


def _of_plan(shown: ShownRun, fields: Mapping[str, str], terms: ExecutionTerms) -> Check:
    edited = edited_plan(shown.run.open_request, fields, terms.tools)
    parsed = read_edit(shown, edited, terms)
    keys = {form.get("id", ""): f"new:{number}:" for number, form in new_steps(fields).items()}
    changes = step_changes(shown.run.plan, parsed.plan) if parsed.plan is not None else ()
    faults = by_step(parsed.issues, edited, terms.tools, keys)
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
