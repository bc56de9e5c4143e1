"""What the pages of one run share: the head, the tabs, the drawing, and long lists a part at a time."""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from planner_executor.graph.desk.pages.respond import Answer, desk_of, page, run_link, run_name_in, shows
from planner_executor.graph.desk.records import Records, ShownRun
from planner_executor.graph.desk.threads import on_thread
from planner_executor.graph.desk.views.looked import NOWHERE, Looked
from planner_executor.graph.desk.views.plan_graph import Links, Shown, drawn_plan
from planner_executor.graph.desk.views.step_marks import StepMarks
from planner_executor.graph.record.budget import spent_in_words
from planner_executor.graph.record.reopening import RETRIED

Values = Callable[[], Mapping[str, Any]]
"""Makes what a template shows."""
Read = Callable[[Request, Records, ShownRun], Awaitable[Any]]
"""Reads more for a page of a run than its events."""


@dataclass(frozen=True)
class Part:
    """A part of a long list, counted from 1."""

    rows: Sequence[Any]
    number: int
    count: int


async def shown_run(request: Request) -> tuple[Records, ShownRun]:
    """Return the run that an address names.

    Raises:
        UnknownRunError: There is no such run.
    """
    records = await desk_of(request).records()
    return records, await records.show(run_name_in(request))


async def run_page(
    request: Request, template: str, tab: str, shown: ShownRun, values: Values = dict, http_status: int = 200
) -> Response:
    """Return a page of a run, with its head and its tabs; it is made on a thread while nothing changes the run's state.

    Raises:
        InputError: `values` cannot be made of what the request asks for.
    """
    async with shown.reading:
        return await on_thread(
            lambda: page(request, template, http_status, **_shared_values(request, tab, shown), **values())
        )


def run_view(template: str, tab: str, *reads: Read) -> Callable[[Callable[..., Mapping[str, Any]]], Answer]:
    """Return a decorator that makes a page of a run of a function that returns what its template shows.

    The function is given the request, the run, and what `reads` found in the records.
    """

    def page_with(values: Callable[..., Mapping[str, Any]]) -> Answer:
        @shows
        @wraps(values)
        async def answer(request: Request) -> Response:
            records, shown = await shown_run(request)
            found = [await read(request, records, shown) for read in reads]
            return await run_page(request, template, tab, shown, lambda: values(request, shown, *found))

        return answer

    return page_with


def _shared_values(request: Request, tab: str, shown: ShownRun) -> Mapping[str, Any]:
    desk = desk_of(request)
    drives = desk.drives
    return {
        "shown": shown,
        "run": shown.run,
        "tab": tab,
        "statuses": shown.run.step_status,
        "spent": spent_in_words(shown.record.bounds, shown.record.spent, shown.record.spending.aside),
        "fault": drives.fault(shown.key.thread) if drives is not None else None,
        "can_retry": shown.run.status in RETRIED,
        "is_carried_on": desk.starts,
        "response": shown.record.review_state.response,
        "now": time.time(),
    }


def drawing_of(
    request: Request, shown: ShownRun, marks: StepMarks, looked: Looked = NOWHERE, page: str = "/step"
) -> Markup | None:
    """Return the drawing of a run's plan, None without steps; a large one is folded, except where somebody looks.

    A step leads to this page.

    What does not depend on the statuses is made once for a plan and its folds.
    """
    plan = shown.run.plan
    if plan is None or not plan.steps:
        return None
    run, state = shown.run.id, shown.run.step_status
    links = Links(run_link(request, page, run) + "&step=", run_link(request, "", run) + looked.query + "&open=")
    found = looked.found(plan, state)
    drawn = desk_of(request).drawings.get(drawn_plan, plan, links, looked.folds(plan, found))
    return drawn.drawn(Shown(state, marks, found))


def part_of(request: Request, rows: Sequence[Any], size: int, *, is_last: bool = False) -> Part:
    """Return the part of a list that an address asks for, its first one by default, or its last one."""
    count = max(1, -(-len(rows) // size))
    number = min(max(1, int_of(request.query_params.get("part", str(count if is_last else 1)))), count)
    return Part(rows[(number - 1) * size : number * size], number, count)


def int_of(text: str) -> int:
    """Return a number from a URL, 0 if it is not a number.

    >>> int_of("3"), int_of("-1"), int_of("x")
    (3, 0, 0)
    """
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0
