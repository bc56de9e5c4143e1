"""A policy tried on the recorded runs of a database, from the ledger alone."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

from planner_executor.graph.errors import LedgerCorruptError, PolicyError
from planner_executor.graph.ledger.protocol import Ledger
from planner_executor.graph.ledger.recorded_terms import policy_of
from planner_executor.graph.ledger.run_states import projected
from planner_executor.graph.ledger.values import content_value, tools_of
from planner_executor.graph.policy.approval_scope import ExecutionTerms
from planner_executor.graph.policy.policy import Policy
from planner_executor.graph.policy.policy_trial import Args, PolicyTrial, Tried
from planner_executor.graph.record.events import CallRefused, CallStarted, Content, Event, StepHeld
from planner_executor.graph.record.run_filter import RunFilter
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.summary import UNREADABLE
from planner_executor.graph.runs.runs import Runs

PAGE = 100


async def tried_on_runs(runs: Runs, policy: Policy, since: float | None) -> AsyncIterator[tuple[str, list[Tried]]]:
    """Yield each run that began since, the latest first, with what is found of its plans and calls.

    Args:
        runs: The runs.
        policy: The policy to try.
        since: In Unix seconds, None for all runs.
    """
    before: str | None = None
    while True:
        page = await runs.page(RunFilter(since=since, limit=PAGE, before=before))
        for run in page:
            yield run.id, await _tried(runs.ledger, RunKey(run.thread, run.n), policy)
        if (before := page.next) is None:
            return


async def _tried(ledger: Ledger, key: RunKey, policy: Policy) -> list[Tried]:
    try:
        events = await ledger.events(key)
        record = await projected(events)
        tools, recorded = await tools_of(ledger, record), await policy_of(ledger, record.assignment.configuration)
        args = await _args(ledger, events)
    except (LedgerCorruptError, PolicyError, *UNREADABLE) as error:
        return [Tried("the run", "unknown", "unknown", f"its record cannot be read: {error}")]
    mode = record.assignment.configuration.settings.get("approval", "always")
    # A mode that the policy on record set goes with it.
    would = policy.approval or ("always" if recorded.approval is not None else mode)
    executors = tuple(record.assignment.configuration.executors)
    was = ExecutionTerms(tools, mode, recorded, executors=executors)
    return list(PolicyTrial(record, was, ExecutionTerms(tools, would, policy, executors=executors), args).of(events))


async def _args(ledger: Ledger, events: Sequence[Event]) -> Args:
    found: dict[int, Any] = {}
    for event in events:
        data = event.data_if_known
        if not isinstance(data, CallStarted | StepHeld | CallRefused):
            continue
        found[event.seq] = data.args.shown
        if data.args.digest_beside is not None:
            try:
                found[event.seq] = await content_value(ledger, Content.from_json(data.args.shown))
            except (LedgerCorruptError, *UNREADABLE):
                found[event.seq] = None
    return found
