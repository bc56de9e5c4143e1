"""Which threads are old enough to be removed, and what keeps one."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.policy.retention import KeptThread, Retention, obstacle_of, slices_of, threads_of
from planner_executor.graph.record.assignment import Assignment
from planner_executor.graph.record.call import Call
from planner_executor.graph.record.calls import Calls
from planner_executor.graph.record.events import ReviewRequested, RunEnded, RunStarted
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.review_state import RecordedRequest, ReviewState
from planner_executor.graph.record.run_pass import Pass
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.record.summary import RunSummary


def run(thread: str, n: int, updated_at: float = 1.0, status: str = "succeeded") -> RunSummary:
    return RunSummary(thread, n, 1, status, updated_at=updated_at)


def test_runs_are_put_together_by_thread() -> None:
    assert [[one.id for one in runs] for runs in threads_of([run("a", 2), run("b", 1), run("a", 1)])] == [
        ["a.1", "a.2"],
        ["b.1"],
    ]


@given(st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=3), max_size=9))
def test_threads_are_put_in_slices_of_so_many_events(events: list[list[int]]) -> None:
    threads = [[run(f"t{n}", 1)._replace(seq=seq) for seq in one] for n, one in enumerate(events)]

    slices = slices_of(threads, 12)

    counts = [[sum(one.seq for one in runs) for runs in some] for some in slices]
    assert [runs for some in slices for runs in some] == threads
    assert all(some and (sum(some) <= 12 or len(some) == 1) for some in counts)
    assert all(sum(some) + after[0] > 12 for some, after in pairwise(counts))


def test_the_youngest_run_decides_whether_a_thread_is_old() -> None:
    assert Retention(before=5.0).is_due([run("a", 1), run("a", 2, 4.9)])
    assert not Retention(before=5.0).is_due([run("a", 1, 5.0), run("a", 2)])


def test_every_run_of_a_thread_has_to_have_ended_as_named() -> None:
    wanted = Retention(5.0, frozenset({"succeeded"}))

    assert wanted.is_due([run("a", 1)]) and not wanted.is_due([run("a", 1), run("a", 2, status="failed")])


def test_without_statuses_any_old_thread_is_due() -> None:
    assert Retention(5.0).is_due([run("a", 1), run("a", 2, status="failed")])


ENDED = RunEnded(status="failed", reason="r")
WAITS = ReviewState(request=RecordedRequest(ReviewRequested(request=1, subject="s")))


def call(key: str, **fields: Any) -> Call:
    return Call(key, "mail", "send", {}, "d", repeatable=False, within=Pass(1), number=0, begun_seq=3, **fields)


def record(n: int, *calls: Call, ended: RunEnded | None = ENDED, review: ReviewState | None = None) -> RunState:
    known = Calls({one.key: one for one in calls})
    assignment = Assignment(RunStarted(thread="t", n=n, goal=""))
    return RunState(assignment, review_state=review or ReviewState(), calls=known, ended=ended)


@pytest.mark.parametrize(
    ("records", "kept"),
    [
        ([record(1), record(2)], None),
        ([record(1), record(2, ended=None)], KeptThread("t.2", "unfinished")),
        ([record(1), record(2, ended=None, review=WAITS)], KeptThread("t.2", "waiting")),
        ([record(1, call("k")), record(2)], KeptThread("t.1", "uncertain", "mail")),
        ([record(1, call("k", settled=True, result=StepResult("succeeded")))], None),
        ([record(1, call("k", nothing_happened=True))], None),
    ],
)
def test_a_thread_stays_while_something_in_it_is_open(records: list[RunState], kept: KeptThread | None) -> None:
    assert obstacle_of(records, []) == kept


def test_a_thread_stays_while_a_fork_of_one_of_its_runs_is_there() -> None:
    assert obstacle_of([record(1), record(2)], [("u.1", "s.9"), ("v.1", "t.2")]) == KeptThread("t.2", "forked", "v.1")
    assert obstacle_of([record(1)], [("u.1", "s.9")]) is None
