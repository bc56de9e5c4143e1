"""Streams of changes by server-sent events: of one run, and of the lists."""

import json
from collections.abc import AsyncIterator

from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.requests import Request
from starlette.responses import Response

from planner_executor.graph.desk.pages.respond import desk_of, run_name_in, shows, visitor_of
from planner_executor.graph.desk.pages.run_page import int_of
from planner_executor.graph.desk.watch import Reader

PING_S = 15
"""How often a silent stream sends a comment, so that proxies do not close it."""


@shows
async def run_stream(request: Request) -> Response:
    """Send the changes of a run, beginning after the last event that the tab has."""
    desk = desk_of(request)
    records = await desk.records()
    key = await records.runs.find(run_name_in(request))
    watch = desk.watch_of(records)
    # A browser that connects again says itself what it had last; the address says what the page had.
    after = int_of(request.headers.get("last-event-id") or request.query_params.get("seq", "0"))

    async def changes() -> AsyncIterator[ServerSentEvent]:
        seen, before = after, None
        async for now in watch.follow(key, _reader(request)):
            yield ServerSentEvent(event="desk:run", id=str(now.seq), data=now.message(seen, before))
            seen, before = now.seq, now

    return _stream(changes())


@shows
async def list_stream(request: Request) -> Response:
    """Send a message if the latest runs have changed."""
    desk = desk_of(request)
    records = await desk.records()

    async def changes() -> AsyncIterator[ServerSentEvent]:
        async for number in desk.watch_of(records).follow_list(_reader(request)):
            yield ServerSentEvent(event="desk:list", data=json.dumps(number))

    return _stream(changes())


def _reader(request: Request) -> Reader:
    visitor = visitor_of(request)
    return Reader(visitor.session if visitor.has_session else None, visitor.ends_at)


def _stream(changes: AsyncIterator[ServerSentEvent]) -> Response:
    # Without it nginx keeps a stream back until it has a buffer full.
    return EventSourceResponse(changes, ping=PING_S, headers={"X-Accel-Buffering": "no"})
