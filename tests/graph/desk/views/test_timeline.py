"""When each step ran, which of them set the time, and for how long people were waited for."""

from typing import Any

import pytest

from planner_executor.graph.desk.views.timeline import Bar, Timeline, spans_of_people, timeline
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.record.events import Event
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.testing import LEAST, step

PLAN = Plan.model_validate(
    {
        "steps": [
            step("a", "read"),
            step("b", "read", after=["a"]),
            step("c", "read", after=["b"]),
            step("d", "read"),
            step("e", "read", after=["gone"]),
        ]
    }
)
RESULTS = {
    "a": StepResult("succeeded", started_at=10.0, ended_at=12.0),
    "b": StepResult("succeeded", started_at=12.0),
    "d": StepResult("succeeded", started_at=11.0, ended_at=11.01),
    "e": StepResult("succeeded"),
}


def test_bars_stand_where_steps_ran_and_those_that_set_the_time_are_critical() -> None:
    waited = [(5.0, 11.0), (1.0, 2.0), (19.0, 25.0), (20.0, 20.0), (12.0, 12.01)]

    found = timeline(PLAN, {"a": "succeeded", "b": "running", "e": "blocked"}, RESULTS, 20.0, waited)

    assert found == Timeline(
        [
            Bar("a", "succeeded", 0.0, 200.0, 2.0, True),
            Bar("b", "running", 200.0, 800.0, 8.0, True),
            Bar("c", "pending", 0.0, 0.0, None, False),
            Bar("d", "pending", 100.0, 5.0, pytest.approx(0.01), False),  # type: ignore[arg-type]
            Bar("e", "blocked", 0.0, 0.0, None, False),
        ],
        10.0,
        10.0,
        10.0,
        [(0.0, 100.0), (900.0, 100.0), (200.0, 5.0)],
        pytest.approx(2.01),  # type: ignore[arg-type]
    )
    assert found.ticks == [(0.0, 0.0), (250.0, 2.5), (500.0, 5.0), (750.0, 7.5), (1000.0, 10.0)]


@pytest.mark.parametrize("ended", [None, 9.0])
def test_a_step_without_an_end_or_with_one_too_early_took_no_time(ended: float | None) -> None:
    found = timeline(PLAN, {"a": "failed"}, {"a": StepResult("failed", started_at=10.0, ended_at=ended)}, 20.0)

    assert found.bars[0] == Bar("a", "failed", 0.0, 5.0, 0.0, found.bars[0].critical)
    assert (found.began_at, found.span_s, found.critical_s, found.waits, found.waited_s) == (10.0, 0.0, 0.0, [], 0)


def test_a_plan_of_which_nothing_has_run_has_no_time() -> None:
    found = timeline(PLAN, {}, {}, 20.0)

    assert (found.began_at, found.span_s, {(bar.width, bar.critical) for bar in found.bars}) == (
        0.0,
        0.0,
        {(0.0, False)},
    )


@pytest.mark.parametrize(
    ("kinds", "spans"),
    [
        (["review_requested", "review_requested", "decided", "decided"], [(0.0, 2.0)]),
        (["decided", "review_requested"], [(1.0, 9.0)]),
        (["review_requested", "run_started", "decided", "review_requested", "decided"], [(0.0, 2.0), (3.0, 4.0)]),
        ([], []),
    ],
)
def test_people_are_waited_for_from_a_review_to_its_answer(kinds: list[str], spans: Any) -> None:
    events = [Event(at + 1, kind, None, float(at), LEAST[kind]) for at, kind in enumerate(kinds)]

    assert list(spans_of_people(events, 9.0)) == spans
