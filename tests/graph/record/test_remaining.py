"""What is left of a plan, and whether an ended run can be retried."""

import pytest

from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.record.events import RunEnded
from planner_executor.graph.record.plan_state import PlanState
from planner_executor.graph.record.remaining import skipped_in, steps_left
from planner_executor.graph.record.reopening import is_retryable, retry_fault, steps_to_retry
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.record.steps import Steps

DONE, SKIPPED, DOWN = StepResult("succeeded", 1), StepResult("skipped", error="why"), StepResult("failed", error="down")


def step(name: str, *after: str) -> Step:
    return Step(id=name, objective="o", depends_on=after)


CHAIN = Plan(steps=(step("a"), step("b", "a"), step("c", "b"), step("d")))


@pytest.mark.parametrize(
    ("results", "left"),
    [
        ({}, ["a", "b", "c", "d"]),
        ({"a": DONE, "b": DOWN, "gone": DONE}, ["b", "c", "d"]),
        ({"b": SKIPPED}, ["a", "d"]),
        ({"b": SKIPPED, "c": DONE, "a": DONE, "d": DONE}, []),
    ],
)
def test_what_neither_succeeded_nor_was_skipped_is_left(results: dict[str, StepResult], left: list[str]) -> None:
    assert [one.id for one in steps_left(CHAIN, results)] == left


def test_what_needs_a_skipped_step_is_skipped_with_it_unless_it_has_a_result() -> None:
    assert skipped_in(CHAIN, {"a": DONE}) == {}
    assert skipped_in(CHAIN, {"a": SKIPPED, "b": DONE, "c": DOWN}) == {
        "a": SKIPPED,
        "c": StepResult("skipped", error="needs a, which was skipped"),
    }


def ended(status: str | None = "failed", plan: Plan | None = CHAIN, **results: StepResult) -> RunState:
    state = PlanState() if plan is None else PlanState(revision=1, plan=plan.to_json(), awaits_plan=False)
    return RunState(
        plan_state=state, steps=Steps(results=results), ended=RunEnded(status=status, reason="r") if status else None
    )


@pytest.mark.parametrize(
    ("record", "changed", "words"),
    [
        (ended(None), True, "has not ended"),
        (ended("succeeded"), True, "ended as succeeded, which is final"),
        (ended("rejected"), True, "ended as rejected, which is final"),
        (ended("failed"), False, None),
        (ended("partial"), False, None),
        (ended("budget_exhausted", plan=None), False, None),
        (ended("cancelled", a=DONE, b=DONE, c=DONE, d=DONE), False, "has no step left"),
        (ended("cancelled", a=DONE, b=DONE, c=DONE, d=DONE), True, None),
        (ended("cancelled", a=DONE, b=DONE, c=DONE, d=DOWN), False, None),
    ],
)
def test_a_run_that_ended_without_success_is_retried_if_something_is_left(
    record: RunState, changed: bool, words: str | None
) -> None:
    fault = retry_fault(record, changed=changed)

    assert fault is None if words is None else words in str(fault)


def test_an_ended_run_is_retryable_by_its_status() -> None:
    assert is_retryable(ended("partial"))
    assert not is_retryable(ended("succeeded")) and not is_retryable(ended(None))


def test_the_failed_steps_of_the_plan_in_force_are_tried_again() -> None:
    assert steps_to_retry(ended(a=DONE, d=DOWN, b=DOWN, gone=DOWN)) == ("b", "d")
    assert steps_to_retry(ended(plan=None, d=DOWN)) == ()


EITHER = Plan(
    steps=(step("a"), step("b"), Step(id="c", objective="o", depends_on=("a", "b"), run_if="any"), step("d", "c"))
)


@pytest.mark.parametrize(
    ("results", "skipped"),
    [
        ({}, []),
        ({"a": SKIPPED}, ["a"]),
        ({"a": SKIPPED, "b": DONE}, ["a"]),
        ({"a": SKIPPED, "b": SKIPPED}, ["a", "b", "c", "d"]),
    ],
)
def test_a_step_that_takes_any_is_skipped_if_all_that_it_waits_for_are(
    results: dict[str, StepResult], skipped: list[str]
) -> None:
    assert list(skipped_in(EITHER, results)) == skipped


def test_a_step_that_takes_all_is_skipped_if_one_is_that_it_waits_for() -> None:
    both = Plan(steps=(step("a"), step("b"), step("c", "a", "b")))

    assert list(skipped_in(both, {"b": SKIPPED})) == ["b", "c"]
