"""The pages of one run: plan, steps, timeline, results, revisions, effects, budget, audit."""

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from planner_executor.graph.desk.pages.respond import run_link, shows
from planner_executor.graph.desk.pages.run_page import drawing_of, int_of, part_of, run_view, shown_run
from planner_executor.graph.desk.records import Records, ShownRun
from planner_executor.graph.desk.threads import on_thread
from planner_executor.graph.desk.views.effects import effect_rows, files_in
from planner_executor.graph.desk.views.looked import Looked
from planner_executor.graph.desk.views.plan_folds import DRAWN
from planner_executor.graph.desk.views.revisions import plan_of_revision, revisions_in, step_changes
from planner_executor.graph.desk.views.standing import standing_row
from planner_executor.graph.desk.views.step import step_view
from planner_executor.graph.desk.views.step_form import Tools
from planner_executor.graph.desk.views.step_marks import ALL, step_marks
from planner_executor.graph.desk.views.step_rows import step_rows
from planner_executor.graph.desk.views.timeline import spans_of_people, timeline
from planner_executor.graph.desk.views.what_follows import what_follows
from planner_executor.graph.errors import InputError
from planner_executor.graph.ledger.values import tools_of
from planner_executor.graph.ledger.verification import Verification
from planner_executor.graph.plain_text.sanitize import document, visible_json
from planner_executor.graph.record.budget import limit_in_words
from planner_executor.graph.record.step_costs import step_costs
from planner_executor.graph.runs.record_service import audited, verified
from planner_executor.graph.text.drawing.statuses import LOOKS
from planner_executor.graph.text.event_text import SECTIONS, Section, event_text

PART = 20_000
"""Characters of a result on a page."""
CHANGES = 50
"""Changed steps on a page of two revisions."""
EVENTS = 200
"""Events on a page of the audit."""
ROWS = 200
"""Steps on a page that is refreshed while the run executes."""
LISTED = 100
"""Steps in the list beside the drawing."""
CALLS = 100
"""Effects on a page."""


async def _tools(_request: Request, records: Records, shown: ShownRun) -> Tools:
    return await tools_of(records.runs.ledger, shown.record)


async def _value(request: Request, records: Records, shown: ShownRun) -> Any:
    return await records.runs.value(shown.run.id, request.query_params.get("step") or None)


async def _verified(_request: Request, records: Records, shown: ShownRun) -> Verification:
    return await verified(records.runs, shown.run.id)


@run_view("run_plan.html", "plan", _tools)
def plan(request: Request, shown: ShownRun, tools: Tools) -> Mapping[str, Any]:
    """Show the plan, as a graph and as a list."""
    asked, plan, state = request.query_params, shown.run.plan, shown.run.step_status
    statuses = tuple(one for one in LOOKS if one in asked.getlist("status"))
    looked = Looked(asked.get("find", "").strip()[:200], statuses, tuple(asked.getlist("open")), "fold" in asked)
    if plan is None:
        return {"looked": looked, "drawing": None, "part": None, "is_large": False}
    marks, found = step_marks(shown, plan, tools), looked.found(plan, state)
    rows = [row for row in step_rows(shown, marks) if found is None or row.id in found]
    return {
        "looked": looked,
        "drawing": drawing_of(request, shown, marks, looked),
        "legend": [one for one in ALL if any(one in its for its in marks.values())],
        "part": part_of(request, rows, LISTED),
        "count": len(rows),
        "counts": Counter(state.values()),
        "is_large": len(plan.steps) > DRAWN,
        "written": files_in(effect_rows(shown), tools) if shown.run.ended else ((), ()),
        "here": run_link(request, "", shown.run.id),
    }


@run_view("run_step.html", "plan", _tools)
def step(request: Request, shown: ShownRun, tools: Tools) -> Mapping[str, Any]:
    """Show one step."""
    name = request.query_params.get("step", "")
    found = step_view(shown, name, tools)
    if found is None:
        raise InputError("step", f"the plan in force of {shown.run.id} has no step {name!r}; open one of its list")
    value = found.result.value if found.result is not None else None
    shown_value = visible_json(value) if value is not None else None
    return {"view": found, "value": shown_value, "part": PART, "follows": what_follows(shown, name)}


@run_view("run_timeline.html", "timeline")
def times(request: Request, shown: ShownRun) -> Mapping[str, Any]:
    """Show when each step ran."""
    run, now = shown.run, time.time()
    if run.plan is None:
        return {"drawn": None, "part": None}
    drawn = timeline(run.plan, run.step_status, run.results, now, spans_of_people(shown.events, now))
    part = part_of(request, drawn.bars, ROWS)
    return {"drawn": replace(drawn, bars=part.rows), "part": part}


@run_view("run_results.html", "results")
def results(request: Request, shown: ShownRun) -> Mapping[str, Any]:
    """Show the answer and the results, a part at a time if they are long or many."""
    return {"part": part_of(request, step_rows(shown), ROWS)}


@run_view("run_value.html", "results", _value)
def value(request: Request, _shown: ShownRun, found: Any) -> Mapping[str, Any]:
    """Show the whole value of a step, or the answer, one part of it at a time."""
    part = part_of(request, document(found) if isinstance(found, str) else visible_json(found), PART)
    return {"step": request.query_params.get("step") or None, "text": part.rows, "part": part, "event": None}


@run_view("run_value.html", "audit")
def event(request: Request, shown: ShownRun) -> Mapping[str, Any]:
    """Show an event as it is on record, one part of it at a time."""
    number = int_of(request.query_params.get("seq", ""))
    found = next((one for one in shown.events if one.seq == number), None)
    if found is None:
        raise InputError("seq", f"{shown.run.id} has no event {number}; open one of its audit")
    part = part_of(request, visible_json(found.payload), PART)
    return {"step": None, "text": part.rows, "part": part, "event": found}


@shows
async def download(request: Request) -> Response:
    """Send the whole value of a step, or the answer, as a file that no browser opens."""
    found = await _value(request, *await shown_run(request))
    text = found if isinstance(found, str) else await on_thread(lambda: visible_json(found))
    kind = "txt" if isinstance(found, str) else "json"
    headers = {"Content-Disposition": f'attachment; filename="result.{kind}"'}
    return PlainTextResponse(text, headers=headers, media_type="application/octet-stream")


@run_view("run_revisions.html", "revisions")
def revisions(request: Request, shown: ShownRun) -> Mapping[str, Any]:
    """Show the revisions of the plan, and two of them side by side."""
    rows = revisions_in(shown.events)
    right = int_of(request.query_params.get("right", str(rows[-1][1].revision if rows else 0)))
    left = int_of(request.query_params.get("left", str(max(0, right - 1))))
    after = plan_of_revision(shown.events, right)
    found = step_changes(plan_of_revision(shown.events, left), after) if after is not None else []
    part = part_of(request, found, CHANGES)
    return {"rows": rows, "left": left, "right": right, "part": part, "count": len(found)}


@run_view("run_effects.html", "effects")
def effects(request: Request, shown: ShownRun) -> Mapping[str, Any]:
    """Show the calls that change something or leave the machine, and what is uncertain of them."""
    approved = [standing_row(use, time.time()) for use in shown.record.standing.by_id.values()]
    rows = effect_rows(shown)
    return {"part": part_of(request, rows, CALLS), "approved": approved, "count": len(rows)}


@run_view("run_budget.html", "budget")
def budget(request: Request, shown: ShownRun) -> Mapping[str, Any]:
    """Show what was spent of which limit, and by which step."""
    bounds, spent, aside = shown.record.bounds, shown.record.spent, shown.record.spending.aside
    limits = [
        (name, limit_in_words(name, bounds, spent, aside), spent.of(name) + aside.of(name), bounds.of(name) or 0)
        for name in bounds.names
    ]
    return {"limits": limits, "part": part_of(request, list(step_costs(shown.events).items()), ROWS)}


@run_view("run_audit.html", "audit", _verified)
def audit(request: Request, shown: ShownRun, checked: Verification) -> Mapping[str, Any]:
    """Show the events as a story, a page at a time, and whether the record is intact."""
    section = request.query_params.get("section", "")
    chosen = [event for event in shown.events if not section or section in event_text(event).sections]
    part = part_of(request, chosen, EVENTS, is_last=True)
    lines = [(event, event_text(event)) for event in part.rows]
    return {"lines": lines, "part": part, "section": section, "sections": SECTIONS, "checked": checked}


@shows
async def audit_text(request: Request) -> Response:
    """Send the audit as a text file, as `planner-executor audit` prints it."""
    records, shown = await shown_run(request)
    only: tuple[Section, ...] = tuple(one for one in SECTIONS if one == request.query_params.get("section"))
    report = await audited(records.runs, shown.run.id, *only)
    headers = {"Content-Disposition": 'attachment; filename="audit.txt"'}
    text = await on_thread(lambda: f"{report}\n")
    return PlainTextResponse(text, headers=headers, media_type="application/octet-stream")
