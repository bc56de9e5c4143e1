"""Starting a run: of a goal, or of a plan that somebody brings, whose steps are shown in the panels of a review."""

import secrets
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from planner_executor.graph.desk.drives import Work
from planner_executor.graph.desk.pages.control import drive
from planner_executor.graph.desk.pages.editing import INLINE_STEPS
from planner_executor.graph.desk.pages.respond import Form, changes, desk_of, go_to, page, run_link, shows, visitor_of
from planner_executor.graph.desk.threads import on_thread
from planner_executor.graph.desk.views.edit_faults import by_step
from planner_executor.graph.desk.views.plan_form import plan_of_form, plan_of_text
from planner_executor.graph.desk.views.step_form import Tools, step_forms, step_list
from planner_executor.graph.errors import InputError
from planner_executor.graph.plan.reading import read_plan
from planner_executor.graph.policy.approval_scope import ExecutionTerms

NO_TERMS = ExecutionTerms({})


@shows
async def new(request: Request) -> Response:
    """Show the form that starts a run, or why none is started here."""
    return page(request, "start.html", wrong="", given={}, panels=None)


@changes
async def start(request: Request, form: Form) -> Response:
    """Start a run, and show it while it is planned; what cannot be started stays in the form, with the reason.

    A plan that is brought is first shown step by step, and again as long as it has faults.
    """
    given, terms = dict(form.fields), await _terms(request) if form.get("plan") else NO_TERMS
    panels: Mapping[str, Any] | None = None
    try:
        plan = await on_thread(lambda: brought_plan(given, terms.tools))
        # Without tools of its own a desk cannot tell a fault from a tool that it does not know.
        if plan is not None and terms.tools:
            panels = await on_thread(lambda: _panels(plan, terms, given))
        if panels is not None and (form.get("act") == "look" or panels["faults"]):
            status = 422 if panels["faults"] else 200
            return page(request, "start.html", status, wrong="", given=given, panels=panels)
        return go_to(run_link(request, "", await _started(request, form, plan)))
    except InputError as error:
        return page(request, "start.html", 422, wrong=str(error), given=given, panels=panels)


async def _terms(request: Request) -> ExecutionTerms:
    """Return the terms of runs that are started here."""
    in_force = desk_of(request).policy
    return (await in_force()).terms if in_force is not None else NO_TERMS


def brought_plan(given: Mapping[str, str], tools: Tools) -> Any:
    """Return the plan in a form, with what its panels change; None without one.

    Raises:
        InputError: It cannot be read.
    """
    if not given.get("plan"):
        return None
    plan = plan_of_text(given["plan"])
    if not given.get("panels"):
        return plan
    return plan_of_form({"steps": plan} if isinstance(plan, list) else plan, given, tools)


def _panels(plan: Any, terms: ExecutionTerms, given: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the steps of a plan as forms, as many as a page has, and what is wrong with them."""
    parsed = read_plan(plan, terms.tools)
    issues = parsed.issues if parsed.plan is None else terms.issues(parsed.plan)
    shown = parsed.plan.to_json() if parsed.plan is not None else {"steps": step_list(plan)}
    steps = step_list(shown)
    forms = step_forms(steps[:INLINE_STEPS], frozenset(), terms.tools, given)
    return {"forms": forms, "more": len(steps) - len(forms), "faults": by_step(issues, shown, terms.tools, {})}


async def _started(request: Request, form: Form, plan: Any) -> str:
    goal = form.get("goal")
    if not goal:
        raise InputError("goal", "say what is to be done")
    constraints = [line.strip() for line in form.get("constraints").split("\n") if line.strip()]
    tags, thread, by = form.get("tags").split(), secrets.token_hex(4), visitor_of(request).person
    return await started(
        request,
        thread,
        lambda opened: opened.agent.start(
            goal, constraints=constraints, tags=tags, plan=plan, thread=thread, setup=opened.setup, by=by
        ),
    )


async def started(request: Request, thread: str, begin: Work) -> str:
    """Start a run on a thread of its own, and return its id once it is on record.

    Raises:
        InputError: It cannot be started, or not here.
    """
    records = await desk_of(request).records()
    await drive(request, records, None, begin, thread)
    key = await records.runs.ledger.last_run(thread)
    if key is None:
        raise InputError("goal", "the run has not begun yet; look for it in the list of runs")
    return key.id
