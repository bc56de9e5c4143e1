"""Folds of runs are kept until the hash of the last event is another one."""

import pytest

from graph.ledger import folded_runs
from graph.ledger.folded_runs import FoldedRuns, RunFold
from graph.record.events import Event
from graph.testing import drafted

STARTED = [Event.written(1, 100.0, drafted("run_started", {"goal": "g", "constraints": []}))]
ENDED = [Event.written(2, 101.0, drafted("run_ended", {"status": "failed", "reason": "r"}))]


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
