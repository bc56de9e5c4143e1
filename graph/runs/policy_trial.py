"""A policy tried on the recorded runs of a database, from the ledger alone."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any

from planner_executor.graph.errors import LedgerCorruptError, MissingRunError, PolicyError
from planner_executor.graph.ledger.protocol import Ledger
from planner_executor.graph.ledger.recorded_terms import terms_on_record
from planner_executor.graph.ledger.run_states import projected
from planner_executor.graph.ledger.values import args_of
from planner_executor.graph.policy.policy import Policy
from planner_executor.graph.policy.policy_trial import Args, PolicyTrial, Tried
from planner_executor.graph.record.events import CallRefused, CallStarted, Event, StepHeld
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
            try:
                found = await _tried(runs.ledger, RunKey(run.thread, run.n), policy)
            except MissingRunError:  # it was removed since it was listed
                continue
            yield run.id, found
        if (before := page.next) is None:
            return


async def _tried(ledger: Ledger, key: RunKey, policy: Policy) -> list[Tried]:
    try:
        events = await ledger.events(key)
        record = await projected(events)
        was = await terms_on_record(ledger, record)
        args = await _args(ledger, events)
    except (LedgerCorruptError, PolicyError, *UNREADABLE) as error:
        return [Tried("the run", "unknown", "unknown", f"its record cannot be read: {error}")]
    # A mode that the policy on record set goes with it.
    would = policy.approval or ("always" if was.policy.approval is not None else was.mode)
    return list(PolicyTrial(record, was, replace(was, mode=would, policy=policy), args).of(events))


async def _args(ledger: Ledger, events: Sequence[Event]) -> Args:
    found: dict[int, Any] = {}
    for event in events:
        if isinstance(data := event.data_if_known, CallStarted | StepHeld | CallRefused):
            try:
                found[event.seq] = await args_of(ledger, data.args)
            except (LedgerCorruptError, *UNREADABLE):
                # The event is tried all the same, with the answer that its arguments are kept no more.
                found[event.seq] = None
    return found
