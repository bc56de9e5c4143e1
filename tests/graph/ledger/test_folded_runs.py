"""Folds of runs are kept until the hash of the last event is another one."""

from collections.abc import Sequence

import pytest

from planner_executor.graph.ledger import folded_runs
from planner_executor.graph.ledger.chain import Row
from planner_executor.graph.ledger.folded_runs import FoldedRuns, RunFold
from planner_executor.graph.record.events import Event
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.testing import drafted

STARTED = [Event.written(1, 100.0, drafted("run_started", {"goal": "g", "constraints": []}))]
ENDED = [Event.written(2, 101.0, drafted("run_ended", {"status": "failed", "reason": "r"}))]


OTHER = [Event.written(3, 100.0, drafted("run_started", {"goal": "h", "constraints": []}))]


def written(events: Sequence[Event]) -> tuple[list[Row], Sequence[Event]]:
    links = [f"link of {event.seq}".encode() for event in events]
    return [
        Row(one.seq, one.kind, None, one.at, "{}", b"", b"", link) for one, link in zip(events, links, strict=True)
    ], events


def started() -> RunFold:
    fold = RunFold("t", 1)
    fold.apply(STARTED)
    return fold


def test_a_kept_run_is_folded_on_and_its_last_row_is_known() -> None:
    runs = FoldedRuns()
    first, unknown = runs.apply(1, b"", STARTED, b"one", lambda: RunFold("t", 1))

    second, before = runs.apply(1, b"one", ENDED, b"two", pytest.fail)

    assert (unknown, before) == (None, first.row)
    assert (second.row.status, dict(second.counts)) == ("failed", {("runs_ended_total", (("status", "failed"),)): 1})


@pytest.mark.parametrize("why", ["rolled back", "forgotten", "pushed out"])
def test_a_run_that_may_have_changed_is_folded_anew(why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folded_runs, "MOST", 1)
    runs = FoldedRuns()
    runs.apply(1, b"", STARTED, b"of a transaction" if why == "rolled back" else b"one", lambda: RunFold("t", 1))
    if why == "forgotten":
        runs.forget(1)
    if why == "pushed out":
        runs.apply(2, b"", STARTED, b"two", lambda: RunFold("u", 1))

    change, before = runs.apply(1, b"one", ENDED, b"two", started)

    assert (change.row.goal, change.row.seq, before) == ("g", 2, None)


def test_a_run_that_was_read_is_not_folded_anew() -> None:
    runs = FoldedRuns()
    runs.has_read(RunKey("t", 1), *written(STARTED))

    change, before = runs.apply(1, b"link of 1", ENDED, b"two", pytest.fail)

    assert (change.row.goal, change.row.seq, change.row.status, before) == ("g", 2, "failed", None)


@pytest.mark.parametrize("why", ["earlier events have changed", "its end is written twice", "many were read since"])
def test_a_run_that_was_read_is_folded_anew_if(why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folded_runs, "MOST_READ", 1)
    runs = FoldedRuns()
    if why == "earlier events have changed":
        runs.forget(1)
    runs.has_read(RunKey("t", 1), *written(STARTED))
    if why == "its end is written twice":
        runs.apply(1, b"link of 1", ENDED, b"of a transaction that was rolled back", pytest.fail)
    if why == "many were read since":
        runs.has_read(RunKey("u", 1), *written(OTHER))
    anew: list[str] = []

    runs.apply(1, b"link of 1", ENDED, b"two", lambda: anew.append(why) or started())

    assert anew == [why]


@pytest.mark.parametrize("events", [[], [*STARTED, *ENDED]])
def test_a_run_without_events_or_with_an_end_is_not_folded_when_it_is_read(events: list[Event]) -> None:
    runs = FoldedRuns()
    runs.has_read(RunKey("t", 1), *written(events))
    anew: list[int] = []

    runs.apply(1, b"link of 2" if events else b"", ENDED, b"three", lambda: anew.append(1) or started())

    assert anew == [1]
