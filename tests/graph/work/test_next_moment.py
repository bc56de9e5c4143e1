"""What is done about the next moment of a schedule."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.playbooks.schedule import Schedule
from planner_executor.graph.record.moment import Moment
from planner_executor.graph.work.next_moment import HOLD_S, LATE_S, first_moment, move_at

HOURLY = Schedule("hourly", "report", "0 * * * *")
DUE = 7200.0
MOMENT = Moment("hourly", HOURLY.rule, DUE, "aa", last="zz")
TAKEN = MOMENT._replace(taken_at=DUE)


def moved(moment: Moment = MOMENT, now: float = DUE, schedule: Schedule = HOURLY, **about: bool) -> tuple[Any, Moment]:
    about = {"is_begun": False, "is_running": False, **about}
    return move_at(moment, schedule, now, new_thread=lambda: "bb", **about)


def test_a_schedule_counts_from_when_it_was_first_seen_and_anew_when_its_expression_changes() -> None:
    assert first_moment(HOURLY, DUE, "aa") == Moment("hourly", "0 * * * * UTC", DUE + 3600, "aa")
    half = replace(HOURLY, cron="30 * * * *")
    assert moved(now=DUE - 10, schedule=half) == ("new", Moment("hourly", half.rule, DUE + 1800, "bb", last="zz"))


@pytest.mark.parametrize(
    ("moment", "now", "changes", "move", "due_at", "last"),
    [
        (MOMENT, DUE - 1, {}, "rest", DUE, "zz"),
        (MOMENT, DUE, {}, "start", DUE, "zz"),
        (TAKEN, DUE + HOLD_S - 1, {}, "rest", DUE, "zz"),
        (TAKEN, DUE + HOLD_S, {}, "start", DUE, "zz"),  # who took it has died
        (TAKEN, DUE + LATE_S + 1, {}, "start", DUE, "zz"),
        (TAKEN, DUE + 5, {"is_begun": True}, "started", DUE + 3600, "aa"),
        (MOMENT, DUE + 2 * 86_400, {}, "missed", DUE + 2 * 86_400 + 3600, "zz"),
        (MOMENT, DUE + 2 * 86_400, {"missed": "run_once"}, "start", DUE, "zz"),
        (MOMENT, DUE, {"is_running": True}, "overlaps", DUE + 3600, "zz"),
        (MOMENT, DUE, {"is_running": True, "overlap": "queue"}, "waits", DUE, "zz"),
        (MOMENT._replace(waits=True), DUE + 9000, {"is_running": True, "overlap": "queue"}, "rest", DUE, "zz"),
        (MOMENT._replace(waits=True), DUE + 9000, {"overlap": "queue"}, "start", DUE, "zz"),
        (TAKEN._replace(waits=True), DUE + 9000, {"is_begun": True}, "started", DUE + 10800, "aa"),
    ],
)
def test_a_moment_starts_a_run_or_is_left_out(
    moment: Moment, now: float, changes: dict[str, Any], move: str, due_at: float, last: str
) -> None:
    about = {name: changes.pop(name) for name in ("is_begun", "is_running") if name in changes}

    done, after = moved(moment, now, replace(HOURLY, **changes), **about)

    assert (done, after.due_at, after.last) == (move, due_at, last)
    assert (after.taken_at == now) is (move == "start") and (after.thread == "aa") is (due_at == DUE)


@given(st.lists(st.tuples(st.floats(0, 20_000), st.booleans(), st.booleans()), max_size=30), st.booleans())
def test_whatever_the_clock_says_no_thread_starts_twice_and_no_moment_comes_again(
    looks: list[tuple[float, bool, bool]], queues: bool
) -> None:
    schedule, names = replace(HOURLY, overlap="queue" if queues else "skip"), iter(map(str, range(1_000)))
    moment, now, begun, moments = first_moment(schedule, 0.0, "first"), 0.0, list[str](), list[float]()
    for passed_s, dies, runs in looks:
        now += passed_s
        move, after = move_at(
            moment, schedule, now, is_begun=moment.thread in begun, is_running=runs, new_thread=lambda: next(names)
        )
        assert move != "start" or (moment.thread not in begun and moment.due_at <= now)
        if move == "start" and not dies:
            begun.append(moment.thread)
            moments.append(moment.due_at)
        moment = after
    assert len({*begun}) == len(begun) and moments == sorted({*moments})
