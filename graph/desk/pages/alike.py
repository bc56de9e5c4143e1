"""Alike requests: plans that differ in arguments alone, shown as a table and decided in one go."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from planner_executor.graph.desk.pages.lists import inbox_filter
from planner_executor.graph.desk.pages.respond import Form, changes, desk_of, page, shows, visitor_of
from planner_executor.graph.desk.pages.review import carry_out
from planner_executor.graph.desk.security.visitor import verified
from planner_executor.graph.errors import InputError
from planner_executor.graph.review.alike import Batch
from planner_executor.graph.review.request_json import digest_of_request
from planner_executor.graph.review.response import ReviewResponse, reason_for
from planner_executor.graph.runs.alike import Outcome, alike_requests, decide_each
from planner_executor.graph.runs.run import Run
from planner_executor.graph.settings.identity import named

NOTHING: Sequence[Outcome] = ()
DECISIONS = ("approve", "stop")


@shows
async def alike(request: Request) -> Response:
    """Show the alike requests among those that the visitor may decide and that the inbox has shown."""
    return await _page(request)


async def _page(request: Request, told: Sequence[Outcome] = NOTHING, wrong: str = "", status: int = 200) -> Response:
    found = await _batches(request)
    tables = [
        (batch, [digest_of_request(one) for one in batch.requests], reason_for(batch.requests[0])) for batch in found
    ]
    return page(request, "alike.html", status, tables=tables, told=told, wrong=wrong, query=request.url.query)


async def _batches(request: Request) -> list[Batch]:
    wanted, person = inbox_filter(request, request.query_params), named(visitor_of(request).person, verified)
    return await alike_requests((await desk_of(request).records()).runs, replace(wanted, person=person))


@changes
async def decide(request: Request, form: Form) -> Response:
    """Decide the requests that are ticked, each as it was shown and by itself."""
    ticked = {name: digest for name, digest in form.after("run:").items() if digest}
    records = await desk_of(request).records()

    async def decided(run: str, answer: Mapping[str, Any]) -> Run:
        await carry_out(request, records, await records.show(run), answer)
        return (await records.show(run)).run

    told: list[Outcome] = []
    for batch in await _batches(request):
        # By the digest on the page: what has become another request since counts as not ticked.
        as_shown = [one for one in batch.requests if ticked.get(one["run"]) == digest_of_request(one)]
        if as_shown:
            without = [one["run"] for one in batch.requests if one not in as_shown]
            told += await decide_each(batch, without, _response(form), decided)
    answered = {one.run for one in told}
    gone = [Outcome(run, "it is another request by now: look at it") for run in ticked if run not in answered]
    return await _page(request, [*told, *gone], "" if ticked else "tick the requests to decide", 200 if ticked else 422)


def _response(form: Form) -> ReviewResponse:
    """Return the decision of a form.

    Raises:
        InputError: It has none.
    """
    if (decision := form.get("decision")) not in DECISIONS:
        raise InputError("decision", "choose what to decide")
    if decision == "stop":
        return ReviewResponse(stop=True)
    return ReviewResponse(approve=True, reason=form.get("reason") or None)
