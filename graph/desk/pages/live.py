"""Streams of changes by server-sent events: of one run, and of the lists."""

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.requests import Request
from starlette.responses import Response

from graph.desk.pages.respond import desk_of, run_name_in, shows
from graph.desk.pages.run import int_of
from graph.desk.records import ShownRun
from graph.text.event_text import event_text

PING_S = 15
MOST_EVENTS = 200
"""Events in one message; a tab that missed more is told where the rest is."""


@shows
async def run_stream(request: Request) -> Response:
    """Send what happens in a run, from the event on that the tab has seen last."""
    desk = desk_of(request)
    records = await desk.records()
    key = await records.runs.find(run_name_in(request))
    watch = desk.watch_of(records)
    after = int_of(request.headers.get("last-event-id") or request.query_params.get("seq", "0"))

    async def changes() -> AsyncIterator[ServerSentEvent]:
        seen = after
        statuses: dict[str, str] = {}
        async for _ in watch.follow(key):
            shown = await records.stand(key)
            message, statuses = run_message(shown, seen, statuses)
            seen = shown.seq
            yield ServerSentEvent(event="desk:run", id=str(seen), data=json.dumps(message))

    return _stream(changes())


@shows
async def list_stream(request: Request) -> Response:
    """Send a message if the latest runs have changed."""
    desk = desk_of(request)
    records = await desk.records()

    async def changes() -> AsyncIterator[ServerSentEvent]:
        async for number in desk.watch_of(records).follow_list():
            yield ServerSentEvent(event="desk:list", data=json.dumps(number))

    return _stream(changes())


def run_message(shown: ShownRun, seen: int, before: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return what a tab has not seen yet, and the statuses that it knows then.

    Args:
        shown: The run.
        seen: The number of the last event that the tab has seen.
        before: The statuses of steps that were sent on this stream.
    """
    statuses = shown.run.step_status
    news = [event for event in shown.events if event.seq > seen]
    told = [[event.seq, event.at, event_text(event).sentence] for event in news[-MOST_EVENTS:]]
    message = {
        "status": shown.run.status,
        "executing": shown.executing,
        "revision": shown.run.revision,
        "steps": {step: status for step, status in statuses.items() if before.get(step) != status},
        "events": told,
        "left_out": max(0, len(news) - MOST_EVENTS),
    }
    return message, statuses


def _stream(changes: AsyncIterator[ServerSentEvent]) -> Response:
    return EventSourceResponse(changes, ping=PING_S, headers={"X-Accel-Buffering": "no"})
