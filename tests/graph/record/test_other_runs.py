"""Calls of other runs of a thread that a run must know before it makes the same call."""

from typing import Any

import pytest

from planner_executor.graph.record.assignment import Assignment
from planner_executor.graph.record.call import Call
from planner_executor.graph.record.calls import Calls
from planner_executor.graph.record.events import Arguments, EarlierCall, RunStarted, StepHeld, StepUncertain
from planner_executor.graph.record.other_runs import calls_to_know, is_kin, is_settled_by, other_calls
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.run_pass import Pass
from planner_executor.graph.record.run_state import RunState

DONE = StepResult("succeeded", "sent")
DOWN = StepResult("failed", error="down")


def call(key: str, **fields: Any) -> Call:
    known = {"step": "a", "tool": "send", "args": {}, "args_digest": "d", "repeatable": False, "within": Pass(1)}
    return Call(**{"key": key, **known, "number": 0, "begun_seq": 5, **fields})


def run(n: int, *calls: Call, elsewhere: tuple[Call, ...] = ()) -> RunState:
    return RunState(
        Assignment(RunStarted(thread="t", n=n, goal="")),
        calls=Calls({one.key: one for one in calls}, elsewhere={one.key: one for one in elsewhere}),
    )


def known(*records: RunState) -> list[tuple[str, str, bool]]:
    return [(one.key, one.run, one.is_uncertain) for one in calls_to_know(records)]


def test_calls_that_are_uncertain_or_that_a_person_confirmed_are_to_be_known() -> None:
    found = known(
        run(1, call("cut"), call("sent", result=DONE), call("confirmed", result=DONE, settled=True)),
        run(2, call("read", repeatable=True), call("raised", result=DOWN), call("none", nothing_happened=True)),
    )

    assert found == [("cut", "t.1", True), ("confirmed", "t.1", False), ("raised", "t.2", True)]


def test_a_later_run_that_settled_a_call_settled_it_as_it_was_begun_then() -> None:
    happened = call("k", result=DONE, settled=True, run="t.1")
    nothing = call("k", nothing_happened=True, run="t.1")

    assert known(run(1, call("k")), run(2, elsewhere=(happened,))) == [("k", "t.1", False)]
    unmet = call("k", result=DONE, unmet="too short")
    assert known(run(1, unmet), run(2, elsewhere=(happened,))) == [("k", "t.1", False)]
    assert known(run(1, call("k")), run(2, elsewhere=(nothing,))) == []
    assert known(run(1, call("k", result=DONE)), run(2, elsewhere=(happened,))) == []
    assert known(run(1, call("k", begun_seq=9)), run(2, elsewhere=(happened,))) == [("k", "t.1", True)]


def test_a_run_that_knows_a_call_and_has_not_settled_it_changes_nothing() -> None:
    for one in (call("k"), call("k", result=DONE, unmet="too short")):
        there = one._replace(run="t.1"), call("gone", run="s.1")
        assert known(run(1, one), run(2, elsewhere=there)) == [("k", "t.1", True)]


ELSEWHERE = EarlierCall("k", "t.1", "a", 7, None, None, 9.0)


def test_the_event_that_holds_a_call_names_calls_that_happened() -> None:
    held = StepHeld(key="x", tool="send", args=Arguments({"to": "x"}), labels={}, revision=2,
                    before=(ELSEWHERE, EarlierCall("own")))  # fmt: skip

    (found,) = other_calls(held)

    assert (found.key, found.run, found.step, found.tool, found.args) == ("k", "t.1", "a", "send", {"to": "x"})
    assert (found.settled, found.is_uncertain, found.begun_seq, found.begun_at) == (True, False, 7, 9.0)
    assert (found.repeatable, found.within, found.number) == (False, Pass(0), 0)


def test_the_event_of_a_wait_names_calls_that_may_have_happened_and_why() -> None:
    cut, raised, unmet = (
        ELSEWHERE,
        EarlierCall("r", "t.1", "a", 8, "down"),
        EarlierCall("u", "t.1", "a", 9, None, "short"),
    )
    waits = StepUncertain(key="x", tool="send", args=Arguments({}), calls=(cut, raised, unmet), revision=2)

    found = other_calls(waits)

    assert [(one.result and (one.result.status, one.result.error), one.unmet) for one in found] == [
        (None, None),
        (("failed", "down"), None),
        (("succeeded", None), "short"),
    ]
    assert all(one.is_uncertain and not one.settled for one in found)


@pytest.mark.parametrize(
    ("other", "of_other", "own", "counts"),
    [
        ("s", None, None, True),
        ("t", None, None, False),
        ("t", "t.2", None, True),
        ("t", None, "t.1", True),
        ("t", "t.0", "t.0", True),
        ("t", "t.0", None, False),
        ("t", None, "t.0", False),
    ],
    ids=["another thread", "another goal", "its fork", "its origin", "a fork of the same", "a fork of another",
         "a fork beside it"],
)  # fmt: skip
def test_what_succeeded_counts_in_a_fork_and_in_what_it_is_a_fork_of(
    other: str, of_other: str | None, own: str | None, counts: bool
) -> None:
    assert is_kin(Assignment(RunStarted(thread=other, n=1, goal=""), forked_from=of_other), "t", "t.2", own) == counts


def test_what_succeeded_in_kin_has_happened_and_what_may_be_repeated_is_not_to_be_known() -> None:
    one = run(1, call("sent", result=DONE), call("cut"), call("read", result=DONE, repeatable=True))

    assert known(one) == [("cut", "t.1", True)]
    found = [(each.key, each.settled) for each in calls_to_know([one], kin=["t.1"])]
    assert found == [("sent", True), ("cut", False)]
    nothing = run(1, call("n", result=DOWN, nothing_happened=True))
    assert calls_to_know([nothing], kin=["t.1"]) == []


def test_a_call_of_which_no_other_run_has_a_copy_is_settled_by_none() -> None:
    assert not is_settled_by(call("k"), None)
