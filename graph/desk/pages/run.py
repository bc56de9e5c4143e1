"""The pages of one run: plan, steps, timeline, results, revisions, effects, budget, audit."""

import time
from typing import Any

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from graph.desk.pages.respond import desk_of, page, run_link, run_name_in, shows
from graph.desk.records import Records, ShownRun
from graph.desk.views.effects import effect_rows
from graph.desk.views.plan_graph import plan_graph
from graph.desk.views.revisions import plan_of_revision, revision_rows, step_changes
from graph.desk.views.standing import standing_row
from graph.desk.views.step import step_view
from graph.desk.views.step_rows import step_rows
from graph.desk.views.timeline import spans_of_people, timeline
from graph.errors import InputError
from graph.ledger.values import tools_of
from graph.record.budget import limit_in_words, spent_in_words
from graph.record.reopening import RETRIED
from graph.record.step_costs import step_costs
from graph.record_service import audited, verified
from graph.sanitize import visible_json
from graph.text.event_text import SECTIONS, Section, event_text

GRAPH_STEPS = 1_500
"""Steps that are drawn; a larger plan has its list alone."""
PART = 20_000
"""Characters of a result on a page."""
CHANGES = 50
"""Changed steps on a page of two revisions."""
EVENTS = 200
"""Events on a page of the audit."""


async def shown_run(request: Request) -> tuple[Records, ShownRun]:
    """Return the run that an address names.

    Raises:
        UnknownRunError: There is no such run.
    """
    records = await desk_of(request).records()
    return records, await records.show(run_name_in(request))


def run_page(
    request: Request, template: str, tab: str, shown: ShownRun, http_status: int = 200, **values: Any
) -> Response:
    """Return a page of a run, with its head and its tabs."""
    desk = desk_of(request)
    drives = desk.drives
    shared = {
        "shown": shown,
        "run": shown.run,
        "tab": tab,
        "statuses": shown.run.step_status,
        "spent": spent_in_words(shown.record.bounds, shown.record.usage),
        "fault": drives.fault(shown.key.thread) if drives is not None else None,
        "can_retry": shown.run.status in RETRIED,
        "is_carried_on": desk.starts,
        "response": shown.record.review_state.response,
        "now": time.time(),
    }
    return page(request, template, http_status, **shared, **values)


@shows
async def plan(request: Request) -> Response:
    """Show the plan, as a graph and as a list."""
    _, shown = await shown_run(request)
    run = shown.run
    link = run_link(request, "/step", run.id) + "&step="
    is_drawn = run.plan is not None and len(run.plan.steps) <= GRAPH_STEPS
    drawing = plan_graph(run.plan, run.step_status, link) if is_drawn and run.plan is not None else None
    return run_page(request, "run_plan.html", "plan", shown, drawing=drawing, rows=step_rows(shown))


@shows
async def step(request: Request) -> Response:
    """Show one step."""
    records, shown = await shown_run(request)
    name = request.query_params.get("step", "")
    found = step_view(shown, name, await tools_of(records.runs.ledger, shown.record))
    if found is None:
        raise InputError("step", f"the plan in force of {shown.run.id} has no step {name!r}; open one of its list")
    value = visible_json(found.result.value) if found.result is not None and found.result.value is not None else None
    return run_page(request, "run_step.html", "plan", shown, view=found, value=value, part=PART)


@shows
async def times(request: Request) -> Response:
    """Show when each step ran."""
    _, shown = await shown_run(request)
    run = shown.run
    now = time.time()
    waited = spans_of_people(shown.events, now)
    drawn = timeline(run.plan, run.step_status, run.results, now, waited) if run.plan is not None else None
    return run_page(request, "run_timeline.html", "timeline", shown, drawn=drawn)


@shows
async def results(request: Request) -> Response:
    """Show the answer and the results, a part at a time if they are long."""
    _, shown = await shown_run(request)
    return run_page(request, "run_results.html", "results", shown, rows=step_rows(shown))


@shows
async def value(request: Request) -> Response:
    """Show the whole value of a step, or the answer, one part of it at a time."""
    records, shown = await shown_run(request)
    name = request.query_params.get("step") or None
    found = await records.runs.value(shown.run.id, name)
    text = found if isinstance(found, str) else visible_json(found)
    number = int_of(request.query_params.get("part", "1"))
    parts = max(1, -(-len(text) // PART))
    number = min(max(1, number), parts)
    shown_part = text[(number - 1) * PART : number * PART]
    return run_page(
        request, "run_value.html", "results", shown, step=name, text=shown_part, number=number, parts_count=parts
    )


@shows
async def download(request: Request) -> Response:
    """Send the whole value of a step, or the answer, as a file that no browser opens."""
    records, shown = await shown_run(request)
    found = await records.runs.value(shown.run.id, request.query_params.get("step") or None)
    text = found if isinstance(found, str) else visible_json(found)
    kind = "txt" if isinstance(found, str) else "json"
    headers = {"Content-Disposition": f'attachment; filename="result.{kind}"'}
    return PlainTextResponse(text, headers=headers, media_type="application/octet-stream")


@shows
async def revisions(request: Request) -> Response:
    """Show the revisions of the plan, and two of them side by side."""
    _, shown = await shown_run(request)
    rows = revision_rows(shown.events)
    last = rows[-1].number if rows else 0
    right = int_of(request.query_params.get("right", str(last)))
    left = int_of(request.query_params.get("left", str(max(0, right - 1))))
    after = plan_of_revision(shown.events, right)
    found = step_changes(plan_of_revision(shown.events, left), after) if after is not None else []
    pages = max(1, -(-len(found) // CHANGES))
    number = min(max(1, int_of(request.query_params.get("part", "1"))), pages)
    return run_page(
        request,
        "run_revisions.html",
        "revisions",
        shown,
        rows=rows,
        left=left,
        right=right,
        changes=found[(number - 1) * CHANGES : number * CHANGES],
        count=len(found),
        number=number,
        pages=pages,
    )


@shows
async def effects(request: Request) -> Response:
    """Show the calls that change something or leave the machine, and what is uncertain of them."""
    _, shown = await shown_run(request)
    approved = [standing_row(use, time.time()) for use in shown.record.standing.by_id.values()]
    return run_page(request, "run_effects.html", "effects", shown, rows=effect_rows(shown), approved=approved)


@shows
async def budget(request: Request) -> Response:
    """Show what was spent of which limit, and by which step."""
    _, shown = await shown_run(request)
    bounds, usage = shown.record.bounds, shown.record.usage
    limits = [
        (name, limit_in_words(name, bounds, usage), usage.of(name), bounds.of(name) or 0) for name in bounds.names
    ]
    costs = list(step_costs(shown.events).items())
    return run_page(request, "run_budget.html", "budget", shown, limits=limits, costs=costs)


@shows
async def audit(request: Request) -> Response:
    """Show the events as a story, a page at a time, and whether the record is intact."""
    records, shown = await shown_run(request)
    section = request.query_params.get("section", "")
    chosen = [event for event in shown.events if not section or section in event_text(event).sections]
    pages = max(1, -(-len(chosen) // EVENTS))
    number = min(max(1, int_of(request.query_params.get("part", str(pages)))), pages)
    events = chosen[(number - 1) * EVENTS : number * EVENTS]
    checked = await verified(records.runs, shown.run.id)
    return run_page(
        request,
        "run_audit.html",
        "audit",
        shown,
        lines=[(event, event_text(event)) for event in events],
        number=number,
        pages=pages,
        section=section,
        sections=SECTIONS,
        checked=checked,
    )


@shows
async def audit_text(request: Request) -> Response:
    """Send the audit as a text file, as `planner-executor audit` prints it."""
    records, shown = await shown_run(request)
    only: tuple[Section, ...] = tuple(one for one in SECTIONS if one == request.query_params.get("section"))
    report = await audited(records.runs, shown.run.id, *only)
    headers = {"Content-Disposition": 'attachment; filename="audit.txt"'}
    return PlainTextResponse(f"{report}\n", headers=headers, media_type="application/octet-stream")


def int_of(text: str) -> int:
    """Return a number of an address, 0 for what is none.

    >>> int_of("3"), int_of("-1"), int_of("x")
    (3, 0, 0)
    """
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0
