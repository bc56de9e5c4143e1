"""Pages of many runs: what waits for a person, and all runs with filters."""

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, cast
from urllib.parse import urlencode

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response

from planner_executor.graph.desk.pages.respond import (
    desk_of,
    go_to,
    inbox_of,
    page,
    root_of,
    run_link,
    shows,
    visitor_of,
)
from planner_executor.graph.desk.security.visitor import verified
from planner_executor.graph.errors import InputError
from planner_executor.graph.record.run_filter import RunFilter, RunOrder
from planner_executor.graph.record.run_status import STATUSES
from planner_executor.graph.record.waiting_filter import WaitingOrder
from planner_executor.graph.review.request_json import ActionName
from planner_executor.graph.runs.inbox import inbox as open_requests
from planner_executor.graph.runs.inbox_filter import InboxFilter
from planner_executor.graph.runs.inbox_page import place_in_words
from planner_executor.graph.settings.identity import named
from planner_executor.graph.text.inbox import GROUPS, age_in_words, grouped, left_in_words
from planner_executor.graph.text.stopped import STOPPED

PAGE, ME = 50, "me"
SPANS: Mapping[str, int] = {"1h": 3_600, "24h": 86_400, "7d": 604_800, "30d": 2_592_000}
ASKS: Mapping[ActionName, str] = {
    "run_plan": "plan",
    "run_step": "call or gate",
    "answer_question": "question",
    "settle_effect": "uncertain call",
    "raise_budget": "budget",
}
INBOX_ORDERS: Mapping[WaitingOrder, str] = {
    "age": "longest wait first",
    "deadline": "next deadline first",
    "cost": "highest cost first",
    "amount": "largest amount first",
}
RUN_ORDERS: Mapping[RunOrder, str] = {
    "latest": "latest first",
    "cost": "highest cost first",
    "duration": "longest first",
}


@shows
async def inbox(request: Request) -> Response:
    """Show what needs a person; with `for=me` what the visitor may decide."""
    records, asked = await desk_of(request).records(), request.query_params
    wanted, after = inbox_filter(request, asked), asked.get("after")
    found = await open_requests(records.runs, wanted, limit=PAGE, after=after)
    group = next((one for one in GROUPS if one == asked.get("group")), None)
    given = {"find": wanted.text, "order": wanted.order if wanted.order != "age" else "", "group": group or ""}
    query = _query(asked, [*given.items(), *(("asks", one) for one in wanted.asks)])
    shared: Mapping[str, Any] = {"stops": tuple(STOPPED), "orders": INBOX_ORDERS, "groups": GROUPS, "now": time.time()}
    return page(
        request,
        "inbox.html",
        found=found,
        grouped=grouped(found, group),
        waiting=found.total,
        given=given,
        chosen=wanted.asks,
        query=query,
        is_first=after is None,
        is_mine=asked.get("for") == ME,
        is_filtered=bool(wanted.text or wanted.asks),
        asks=ASKS,
        age=age_in_words,
        left=left_in_words,
        **shared,
    )


def inbox_filter(request: Request, asked: QueryParams) -> InboxFilter:
    """Return what the query of an inbox asks for.

    Raises:
        InputError: Nothing is asked or ordered so.
    """
    return InboxFilter(
        person=named(visitor_of(request).person, verified) if asked.get("for") == ME else None,
        text=asked.get("find", "").strip()[:200],
        asks=tuple(one for one in asked.getlist("asks") if one),
        # Any text, which the filter refuses if it is no order.
        order=cast("WaitingOrder", asked.get("order") or "age"),
    )


def _query(asked: QueryParams, pairs: Sequence[tuple[str, str]]) -> str:
    """Return the query of an inbox, without what is not given."""
    mine = [("for", ME)] if asked.get("for") == ME else []
    return urlencode([*mine, *(pair for pair in pairs if pair[1])])


@shows
async def following(request: Request) -> Response:
    """Lead to the first request of an inbox that the visitor may decide, or to the inbox if there is none.

    With `after`, the name of a run: to the one behind the request of that run, which stays undecided.
    """
    records, person = await desk_of(request).records(), named(visitor_of(request).person, verified)
    query, after = inbox_of(request), request.query_params.get("after")
    wanted = replace(inbox_filter(request, QueryParams(query)), person=person)
    place = None
    if after is not None:
        passed = await records.runs.ledger.summaries([await records.runs.find(after)])
        place = place_in_words(wanted.place(passed[0])) if passed else None
    found = await open_requests(records.runs, wanted, limit=1, after=place)
    # A request that was due may have ended as it was listed, which leaves an empty page before others.
    while not found and found.next:
        found = await open_requests(records.runs, wanted, limit=1, after=found.next)
    return go_to(run_link(request, "/review", found[0].run) if found else f"{root_of(request)}/?{query or f'for={ME}'}")


@shows
async def runs(request: Request) -> Response:
    """Show runs, the latest first."""
    given = {name: request.query_params.get(name, "").strip() for name in ("tag", "text", "since", "by", "order")}
    # A field that was left blank is sent all the same; `since` is a span here and a time in the filter.
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
        orders=RUN_ORDERS,
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
