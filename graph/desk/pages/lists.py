"""Pages of many runs: what waits for a person, and all runs with filters."""

import re
import time
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from planner_executor.graph.desk.pages.respond import desk_of, go_to, page, root_of, run_link, shows, visitor_of
from planner_executor.graph.desk.security.visitor import verified
from planner_executor.graph.errors import InputError
from planner_executor.graph.record.run_filter import STATUSES, RunFilter
from planner_executor.graph.record.summary import PERSON
from planner_executor.graph.review.request import ActionName
from planner_executor.graph.runs.inbox import inbox as open_requests
from planner_executor.graph.settings.identity import named
from planner_executor.graph.text.inbox import STOPPED, left_in_words

PAGE, ME = 50, "me"
SPANS: Mapping[str, int] = {"1h": 3_600, "24h": 86_400, "7d": 604_800, "30d": 2_592_000}
ASKS: Mapping[ActionName, str] = {
    "run_plan": "plan",
    "run_step": "call or gate",
    "answer_question": "question",
    "settle_effect": "uncertain call",
    "raise_budget": "budget",
}
WAITING = ("runs_waiting", (("waits_for", PERSON),))
"""The gauge of open requests."""


@shows
async def inbox(request: Request) -> Response:
    """Show what waits for a decision, the longest wait first; with `for=me` what the visitor may decide."""
    records, is_mine = await desk_of(request).records(), request.query_params.get("for") == ME
    person = named(visitor_of(request).person, verified) if is_mine else None
    given = {name: request.query_params.get(name, "").strip()[:200] for name in ("find", "asks")}
    found = await open_requests(
        records.runs,
        person,
        limit=PAGE,
        after=request.query_params.get("after"),
        text=given["find"],
        asks=given["asks"] or None,
    )
    query = urlencode({name: value for name, value in {"for": ME if is_mine else "", **given}.items() if value})
    waiting = (await records.runs.counters()).gauges.get(WAITING, 0)
    shared: Mapping[str, Any] = {"asks": ASKS, "stops": tuple(STOPPED), "now": time.time(), "left": left_in_words}
    return page(
        request, "inbox.html", found=found, waiting=int(waiting), given=given, query=query, is_mine=is_mine, **shared
    )


@shows
async def following(request: Request) -> Response:
    """Lead to the request that the visitor may decide and that has waited longest, or to the inbox."""
    records, person = await desk_of(request).records(), named(visitor_of(request).person, verified)
    found = await open_requests(records.runs, person, limit=1)
    return go_to(run_link(request, "/review", found[0].run) if found else f"{root_of(request)}/?for={ME}")


@shows
async def runs(request: Request) -> Response:
    """Show runs, the latest first."""
    given = {name: request.query_params.get(name, "").strip() for name in ("tag", "text", "since")}
    wanted: Any = {name: value for name, value in given.items() if value and name != "since"}
    chosen: Any = tuple(one for one in request.query_params.getlist("status") if one)
    records = await desk_of(request).records()
    before = request.query_params.get("before") or None
    asked = RunFilter(
        **wanted, status=chosen or None, since=since(given["since"], time.time()), limit=PAGE, before=before
    )
    found = await records.runs.page(asked)
    following = urlencode([*(("status", one) for one in chosen), *((name, of) for name, of in given.items() if of)])
    return page(
        request,
        "runs.html",
        found=found,
        given=given,
        chosen=chosen,
        statuses=STATUSES,
        spans=tuple(SPANS),
        following=following,
        is_first=before is None,
        now=time.time(),
    )


def since(words: str, now: float) -> float | None:
    """Return the earliest start in Unix seconds: a span before now, or a date; None for no limit.

    >>> since("1h", 10_000.0), since("", 0.0)
    (6400.0, None)

    Raises:
        InputError: It is neither.
    """
    if not words:
        return None
    if words in SPANS:
        return now - SPANS[words]
    try:
        return datetime.fromisoformat(words).timestamp() if re.match(r"\d{4}-", words) else _no_time(words)
    except (ValueError, OverflowError, OSError):
        return _no_time(words)


def _no_time(words: str) -> float:
    raise InputError("since", f"{words!r} is not a time; write for example 2026-11-01")
