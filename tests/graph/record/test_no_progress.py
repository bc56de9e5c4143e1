"""No progress: the same failure again, and plans that were tried before."""

from typing import Any

import pytest

from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.record.no_progress import ERROR_CHARACTERS, failures_of, fingerprint, stall_of
from planner_executor.graph.record.plan_state import PlanState
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.run_pass import Pass
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.record.steps import Steps

FAILED = StepResult("failed", error="no luck")
STEP = Step(id="a", objective="fetch it", tool="get", args={"q": "x"}, depends_on=("b",))
PLAN, OTHER, THIRD = (Plan(steps=(Step(id=name, objective="o", tool="get"),)) for name in ("a", "b", "c"))


def record(plan: Plan, error: str = "no luck", before: Any = (), digests: Any = None, failed_in: int = 2) -> RunState:
    tried = PlanState(
        revision=2, replans=1, failures=set(before), digests=[plan.digest] if digests is None else digests
    )
    results = {step.id: StepResult("failed", error=error) for step in plan.steps}
    return RunState(plan_state=tried, steps=Steps(results, {step.id: Pass(failed_in) for step in plan.steps}))


@pytest.mark.parametrize("same", [{"id": "z"}, {"depends_on": ()}, {"success_criteria": "c"}, {"parent": "p"}], ids=str)
def test_a_failure_is_the_same_whatever_the_step_is_called_and_waits_for(same: dict[str, Any]) -> None:
    assert fingerprint(STEP.model_copy(update=same), FAILED) == fingerprint(STEP, FAILED)


@pytest.mark.parametrize(
    "other",
    [
        {"tool": "fetch"}, {"args": {"q": "y"}}, {"args": {"q": True}}, {"tool": None},
        {"for_each": [1]}, {"output": "json"},
    ],
    ids=str,
)  # fmt: skip
def test_a_failure_of_other_work_is_another(other: dict[str, Any]) -> None:
    assert fingerprint(STEP.model_copy(update=other), FAILED) != fingerprint(STEP, FAILED)


@pytest.mark.parametrize(("tool", "is_same"), [("get", True), (None, False)])
def test_other_words_for_a_call_make_no_other_failure_but_to_a_model_they_are_the_work(
    tool: str | None, is_same: bool
) -> None:
    one, other = (Step(id="a", objective=words, tool=tool) for words in ("fetch it", "try to fetch it again"))

    assert (fingerprint(one, FAILED) == fingerprint(other, FAILED)) is is_same


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("timeout after 3 s", "timeout after 12 s", True),
        ("no run 3fa85f64 at 12:01:07.5", "no run 97d1c2aa at 12:02:09.1", True),
        ("timeout", "refused", False),
        ("x" * 300 + "a", "x" * 300 + "b", True),
        (None, "", False),
    ],
)
def test_numbers_and_ids_in_an_error_do_not_tell_failures_apart(one: Any, other: Any, is_same: bool) -> None:
    results = [StepResult("failed", error=error) for error in (one, other)]

    assert (fingerprint(STEP, results[0]) == fingerprint(STEP, results[1])) is is_same


def test_the_same_failure_after_a_revision_is_no_progress() -> None:
    marks = failures_of(PLAN, record(PLAN)).values()

    stall = stall_of(record(PLAN, before=marks), PLAN, OTHER)

    assert stall is not None and "the same failure came again" in stall and "a: no luck" in stall


def test_another_failure_is_progress() -> None:
    marks = failures_of(PLAN, record(PLAN, "another error")).values()

    assert stall_of(record(PLAN, before=marks), PLAN, OTHER) is None


def test_a_failure_of_an_earlier_revision_is_not_one_that_came_again() -> None:
    earlier = record(PLAN, failed_in=1)

    assert failures_of(PLAN, earlier) == {}
    assert stall_of(record(PLAN, before=failures_of(PLAN, record(PLAN)).values(), failed_in=1), PLAN, OTHER) is None


def test_a_first_retry_of_the_same_plan_is_none_and_a_second_is() -> None:
    assert stall_of(record(PLAN, digests=[PLAN.digest]), PLAN, PLAN) is None
    assert stall_of(record(PLAN, "another", digests=[PLAN.digest, PLAN.digest]), PLAN, PLAN) is not None


def test_going_back_to_a_plan_that_failed_is_no_progress() -> None:
    digests = [PLAN.digest, OTHER.digest, THIRD.digest]

    stall = stall_of(record(THIRD, digests=digests), THIRD, OTHER)

    assert stall is not None and "revision 2" in stall
    assert stall_of(record(OTHER, digests=digests[:2]), OTHER, THIRD) is None


def test_no_revision_at_all_is_no_progress() -> None:
    assert stall_of(record(PLAN), PLAN, None) == "the replanner found no revision that can run"


def test_a_fingerprint_is_short_and_takes_so_much_of_an_error() -> None:
    def mark(error: str) -> str:
        return fingerprint(STEP, StepResult("failed", error=error))

    assert len(mark("no luck")) == 16 and ERROR_CHARACTERS == 200
    assert mark("x" * 199 + "a") != mark("x" * 199 + "b") and mark("x" * 200 + "a") == mark("x" * 200 + "b")


def test_few_of_many_errors_that_came_again_are_named() -> None:
    plan = Plan(steps=tuple(Step(id=name, objective="o", tool="get") for name in "abcde"))
    marks = failures_of(plan, record(plan)).values()

    stall = stall_of(record(plan, before=marks), plan, OTHER)

    assert stall == "the same failure came again after 1 revision: a: no luck; b: no luck; c: no luck"


def test_going_back_to_an_earlier_plan_is_progress_if_nothing_failed() -> None:
    digests = [OTHER.digest, PLAN.digest]

    assert stall_of(record(PLAN, digests=digests, failed_in=1), PLAN, OTHER) is None
