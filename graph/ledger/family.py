"""Families of runs: those of one thread, and their forks on other threads, in both directions.

A driver keeps the family of each run, by a number, and what calls the runs of a family have begun that may not be
repeated. An intent looks at those of the other runs in its own transaction; see `docs/decisions/0122-families.md`.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from planner_executor.graph.ledger.chain import Row
from planner_executor.graph.ledger.transcript import event_of
from planner_executor.graph.record.events import (
    CallStarted,
    Draft,
    Event,
    RunForked,
)
from planner_executor.graph.record.redaction import MARK, NAME
from planner_executor.graph.record.run_key import RunKey, run_in
from planner_executor.graph.record.summary import CHANGED
from planner_executor.graph.record.values import to_text


class Effect(NamedTuple):
    """A call that may not be repeated, as identical calls of a family are found: `digest` is that of its arguments.

    It is empty if a value was redacted, which makes the call one that may be identical to any of its tool.
    """

    tool: str
    digest: str
    step: str


class Family(NamedTuple):
    """The other runs of a run's family, as one moment has them.

    `to_know` are those in which a call may concern the run, in order, `seen` the number of the last event of each that
    has begun a call that may not be repeated. `has_forks`: there are some on another thread.
    """

    to_know: Sequence[RunKey]
    seen: Mapping[RunKey, int]
    has_forks: bool


def effects_in(events: Iterable[Draft | Event]) -> list[Effect]:
    """Return what events begin of calls that may not be repeated."""
    begun = ((event.step or "", event.data) for event in events if event.kind == CallStarted.kind)
    return [_effect(step, call) for step, call in begun if isinstance(call, CallStarted) and not call.repeatable]


def effects_of(rows: Iterable[Row]) -> list[Effect]:
    """Return what stored rows begin of such calls; damaged ones are skipped."""
    found = []
    for event in map(event_of, rows):
        with suppress(*CHANGED):
            found += effects_in([event]) if event is not None else []
    return found


def _effect(step: str, call: CallStarted) -> Effect:
    shared = call.same or call.args.digest
    is_redacted = shared.startswith(NAME) or MARK in to_text(call.args.shown)
    return Effect(call.tool, "" if is_redacted else shared, step)


def source_of(events: Iterable[Draft | Event]) -> RunKey | None:
    """Return the run that events of a run name as forked, None if it is no fork."""
    forked = (one.data for one in events if one.kind == RunForked.kind)
    return next((run_in(data.source) for data in forked if isinstance(data, RunForked)), None)


def families(runs: Mapping[RunKey, int], forks: Iterable[tuple[RunKey, str]]) -> dict[int, int]:
    """Return the number of each run -> that of its family, which is the lowest in it.

    Args:
        runs: Each run, and its number.
        forks: Runs that are forks, each with the name of the run that it is a fork of.

    >>> a, b, fork = RunKey("a", 1), RunKey("b", 1), RunKey("f", 1)
    >>> families({a: 1, b: 2, fork: 3}, [(fork, "a.1")])
    {1: 1, 2: 2, 3: 1}
    """
    threads: dict[str, int] = {}
    for run, number in runs.items():
        threads[run.thread] = min(number, threads.get(run.thread, number))
    above = {thread: thread for thread in threads}

    def root(thread: str) -> str:
        while above[thread] != thread:
            # Shortens the way for those who ask next; long chains of forks are walked once.
            above[thread] = thread = above[above[thread]]
        return thread

    for fork, name in forks:
        source = run_in(name)
        if source is not None and source in runs and fork in runs:
            later, earlier = sorted((root(fork.thread), root(source.thread)), key=threads.__getitem__, reverse=True)
            above[later] = earlier
    return {number: threads[root(run.thread)] for run, number in runs.items()}
