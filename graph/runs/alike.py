"""Deciding alike requests together: each decision is judged and written by itself, and a refused one stops no other."""

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from planner_executor.graph.errors import AgentError, InputError
from planner_executor.graph.ledger.run_states import known_state
from planner_executor.graph.review.alike import Batch, alone_because, batches
from planner_executor.graph.review.request_json import RequestJson, digest_of_request
from planner_executor.graph.review.response import ReviewResponse, build_response
from planner_executor.graph.runs.inbox import inbox
from planner_executor.graph.runs.inbox_filter import EVERYTHING, InboxFilter
from planner_executor.graph.runs.run import Run
from planner_executor.graph.runs.runs import Runs
from planner_executor.graph.runs.stored_responses import open_request


class Outcome(NamedTuple):
    """What became of the decision about one run: `fault` is why it does not count, None if it does."""

    run: str
    fault: str | None = None


async def alike_requests(runs: Runs, wanted: InboxFilter = EVERYTHING, limit: int = 50) -> list[Batch]:
    """Return the alike requests among the first of those that are wanted."""
    plans = replace(wanted, asks=("run_plan",))
    asked = [row.run for row in await inbox(runs, plans, limit=limit) if row.asks == ("run_plan",)]
    found = [await _request_of(runs, run) for run in asked]
    return batches([request for request in found if request is not None])


async def _request_of(runs: Runs, run: str) -> RequestJson | None:
    _, record = await known_state([*await runs.log(run)])
    return await open_request(runs.ledger, record)


async def decide_each(
    batch: Batch,
    without: Collection[str],
    response: ReviewResponse,
    decide: Callable[[str, Mapping[str, Any]], Awaitable[Run]],
) -> list[Outcome]:
    """Give each run of a batch the same decision, but for those left out.

    Args:
        batch: The requests as they were shown.
        without: The runs that are left out.
        response: What is said of each.
        decide: Gives one decision to one run, and returns it.

    Raises:
        InputError: A run that is left out is none of them, or nothing is decided.
    """
    known = {request["run"] for request in batch.requests}
    if strange := sorted({*without} - known):
        raise InputError("without", f"{strange[0]} is none of the alike runs: {', '.join(sorted(known))}")
    if not (response.approve or response.feedback or response.stop):
        raise InputError("decision", "say approve, feedback or stop: it holds for each of the plans")
    return [await _decided(request, response, decide) for request in batch.requests if request["run"] not in without]


async def _decided(
    request: RequestJson, response: ReviewResponse, decide: Callable[[str, Mapping[str, Any]], Awaitable[Run]]
) -> Outcome:
    run = request["run"]
    # Some requests ask about more than a table of arguments shows.
    if why := alone_because(request):
        return Outcome(run, f"decide it by itself: {why}")
    try:
        after = await decide(run, build_response(request, response))
    except AgentError as fault:
        return Outcome(run, str(fault))
    if after.refused is not None:
        return Outcome(run, after.refused)
    asked = after.request
    # The same request again means that the decision was refused; another one is the next question.
    error = asked["error"] if asked is not None and digest_of_request(asked) == digest_of_request(request) else None
    return Outcome(run, error)
