"""The results of a run's steps, and how often they failed."""

from dataclasses import replace
from typing import Any

import pytest

from planner_executor.graph.plan.plan_diff import PlanDiff
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.record.check_result import Opinion
from planner_executor.graph.record.events import (
    CallFinished,
    ConditionEvaluated,
    Content,
    Event,
    Inherited,
    PlanRevised,
    ResultSupplied,
    RunReopened,
    StepChecked,
    StepFinished,
    StepSkipped,
)
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.run_pass import Pass
from planner_executor.graph.record.steps import Steps, due_in
from planner_executor.graph.record.trust_label import USER

SENT = StepResult("succeeded", "sent")
MET, NO_OPINION = Opinion("it is good", True, "it is"), Opinion("it is good", None, "no answer")
DOWN = StepResult("failed", error="down")


def finished(result: StepResult = SENT, **fields: Any) -> CallFinished:
    return CallFinished(result=result, call=0, **fields)


def revised(cause: str) -> PlanRevised:
    return PlanRevised(revision=2, plan={"steps": []}, digest="d", author="planner", cause=cause)


def test_a_result_stands_under_its_revision() -> None:
    steps = Steps()

    assert steps.work_finished("a", finished(), Pass(1))
    assert not steps.work_finished("b", finished(DOWN), Pass(1))

    assert steps.succeeded == {"a"}
    assert steps.failed_in("b", Pass(1)) and not steps.failed_in("b", Pass(2)) and not steps.failed_in("a", Pass(1))


def test_what_succeeded_follows_each_result() -> None:
    steps = Steps({"a": SENT})
    assert steps.succeeded == {"a"}

    steps.work_finished("a", finished(DOWN), Pass(1))

    assert steps.succeeded == set()


def test_a_result_with_criteria_is_held_until_it_has_been_checked() -> None:
    steps = Steps()
    assert not steps.work_finished("a", finished(unchecked=True), Pass(1))
    assert steps.results["a"].status == "interrupted"

    assert steps.step_checked("a", StepChecked(met=True, revision=1), Pass(1))

    assert (steps.results["a"], steps.unchecked) == (SENT, {})


def test_criteria_that_are_not_met_fail_the_step_or_try_it_again() -> None:
    steps = Steps({"a": SENT, "b": SENT})

    assert not steps.step_checked("a", StepChecked(met=False, error="no", revision=1), Pass(1))
    assert not steps.step_checked("b", StepChecked(met=False, error="no", revision=1, again=True), Pass(1))

    assert steps.failed_in("a", Pass(1)) and not steps.failed_in("b", Pass(1))
    assert (steps.results["b"].status, steps.retries["b"], steps.retries["a"]) == ("interrupted", 1, 0)
    assert (steps.times_failed("a", None), steps.times_failed("b", None)) == (1, 0)


def test_items_of_a_step_fail_apart_from_it() -> None:
    steps = Steps()

    steps.step_finished("a", StepFinished(result=DOWN, inputs="i", revision=1, items=(2,)), Pass(1))

    assert (steps.times_failed("a", 2), steps.times_failed("a", 1), steps.times_failed("a", None)) == (1, 0, 0)
    assert steps.inputs == {"a": "i"}


def test_retries_are_counted_anew_under_another_revision() -> None:
    steps = Steps()
    steps.step_checked("a", StepChecked(met=False, revision=1, again=True), Pass(1))

    steps.plan_revised(revised("failure"), before=Pass(1))

    assert steps.retries["a"] == 0


def test_a_refinement_leaves_failures_for_a_replan_to_answer() -> None:
    steps = Steps({"a": DOWN, "b": DOWN}, {"a": Pass(1), "b": Pass(0)})

    steps.plan_revised(revised("refined"), before=Pass(1))

    assert steps.failed_in("a", Pass(2)) and not steps.failed_in("b", Pass(2))


def test_any_other_revision_answers_the_failures_before_it() -> None:
    steps = Steps({"a": DOWN}, {"a": Pass(1)})

    steps.plan_revised(revised("failure"), before=Pass(1))

    assert not steps.failed_in("a", Pass(2))


def test_a_failed_step_that_a_revision_changes_has_still_failed_in_its_pass() -> None:
    steps = Steps({"a": DOWN, "b": DOWN}, {"a": Pass(1), "b": Pass(1)})

    steps.plan_revised(replace(revised("failure"), diff=PlanDiff(changed=("a",))), before=Pass(1))

    assert (steps.results, steps.ran) == ({"b": DOWN}, {"a": DOWN, "b": DOWN})
    assert steps.failed_in("a", Pass(1)) and not steps.failed_in("a", Pass(2))

    steps.run_reopened(RunReopened(again=("a",), approver="os:ada"))
    assert steps.ran == {"b": DOWN}


def test_failures_before_a_retry_are_told_apart_from_all() -> None:
    steps = Steps()
    steps.step_finished("a", StepFinished(result=DOWN, inputs="i", revision=1), Pass(1))
    steps.run_reopened(RunReopened(again=("a",), approver="os:ada"))
    steps.step_finished("a", StepFinished(result=DOWN, inputs="i", revision=1), Pass(1, 1))

    assert steps.times_failed("a", None) == 2
    assert steps.times_failed("a", None, before_reopening=True) == 1


def test_a_step_of_the_plan_that_succeeds_again_counts_once() -> None:
    steps = Steps()
    steps.plan_revised(replace(revised("failure"), plan=CHAIN), before=Pass(0))

    counts = []
    for name, result in (("w", SENT), ("w", SENT), ("other", SENT), ("x", DOWN), ("x", SENT), ("w", DOWN)):
        steps.work_finished(name, finished(result), Pass(1))
        counts.append(steps.succeeded_of_plan)

    assert counts == [1, 1, 1, 1, 2, 1]


def test_what_a_person_gives_is_trusted_and_what_a_person_settles_is_still_checked() -> None:
    steps = Steps()

    steps.given("a", 1, at=5.0)
    steps.settled("b", SENT)

    assert steps.labels == {"a": USER, "b": USER}
    assert set(steps.unchecked) == {"b"}
    assert (steps.results["a"].value, steps.results["a"].ended_at) == (1, 5.0)


def test_a_later_result_takes_the_place_of_one_that_was_not_checked() -> None:
    steps = Steps()
    steps.work_finished("a", finished(unchecked=True), Pass(1))

    steps.work_finished("a", finished(DOWN), Pass(2))

    assert (steps.unchecked, steps.results["a"]) == ({}, DOWN)


def test_a_step_that_fails_whole_counts_for_all_its_items() -> None:
    steps = Steps()

    steps.step_finished("a", StepFinished(result=DOWN, inputs="i", revision=1, label=USER), Pass(1))

    assert (steps.times_failed("a", None), steps.times_failed("a", 2)) == (1, 1)
    assert steps.labels == {"a": USER}


def test_a_result_on_record_is_the_one_that_a_check_is_of() -> None:
    steps = Steps({"a": SENT})

    steps.step_checked("a", StepChecked(met=True, revision=1), Pass(1))

    assert steps.results["a"] == SENT
    assert not steps.failed_in("never begun", Pass(1))


def test_the_result_of_a_settled_call_is_the_steps() -> None:
    steps = Steps({"a": DOWN})

    steps.settled("a", SENT)

    assert (steps.results["a"], steps.succeeded) == (SENT, {"a"})


def test_to_ask_what_succeeded_changes_nothing() -> None:
    steps = Steps({"a": SENT})

    assert steps.succeeded and steps == Steps({"a": SENT})


SKIPPED = StepSkipped(approver="os:ada")


def test_a_step_that_succeeded_or_was_skipped_is_settled() -> None:
    steps = Steps({"a": SENT, "b": DOWN})
    steps.step_skipped("c", SKIPPED)

    assert [steps.is_settled(step) for step in ("a", "b", "c", "gone")] == [True, False, True, False]
    assert [steps.is_skipped(step) for step in ("a", "b", "c", "gone")] == [False, False, True, False]


def test_a_skipped_step_names_who_skipped_it_and_why_and_is_checked_no_more() -> None:
    steps = Steps()
    steps.work_finished("a", finished(unchecked=True), Pass(1))

    steps.step_skipped("a", SKIPPED)
    steps.step_skipped("b", StepSkipped(approver="os:ada", why="not needed"))

    assert (steps.results["a"].error, steps.unchecked) == ("skipped by os:ada", {})
    assert steps.results["b"].error == "skipped by os:ada: not needed"


def test_a_step_that_a_revision_changes_is_not_the_one_that_was_skipped() -> None:
    steps = Steps({"done": SENT})
    for step in ("kept", "new", "changed", "removed"):
        steps.step_skipped(step, SKIPPED)

    diff = PlanDiff(added=("new",), changed=("changed", "done"), removed=("removed", "gone"))
    steps.plan_revised(replace(revised("failure"), diff=diff), before=Pass(1))

    assert set(steps.results) == {"done", "kept"}


def test_a_fork_has_the_results_and_the_trust_of_its_source() -> None:
    steps = Steps()

    steps.inherited("a", Inherited(source="t.1", seq=9, result=SENT, label=USER))

    assert (steps.results["a"], steps.labels["a"], steps.supplied, steps.succeeded) == (SENT, USER, {"a"}, {"a"})


def test_a_result_that_a_person_supplied_is_checked_like_any_other() -> None:
    steps = Steps({"a": DOWN})

    steps.result_supplied(Event(7, "result_supplied", "a", 5.0, {}), ResultSupplied(result=Content(1), approver="x"))

    assert (steps.results["a"], steps.labels["a"]) == (StepResult("succeeded", 1, started_at=5.0, ended_at=5.0), USER)
    assert (set(steps.unchecked), steps.supplied) == ({"a"}, {"a"})
    steps.step_checked("a", StepChecked(met=False, error="no", revision=1), Pass(1))
    assert steps.supplied == set()


def test_a_run_that_goes_on_forgets_the_results_of_what_is_tried_again() -> None:
    steps = Steps({"a": DOWN, "b": SENT}, {"a": 1, "b": 1}, missing={"a": ("x",), "b": ("y",)})
    steps.failed["a", None] = steps.retries["a"] = 1
    assert steps.succeeded == {"b"}

    steps.run_reopened(RunReopened(again=("a", "b", "gone"), approver="x"))

    assert (steps.results, steps.result_pass, steps.missing, steps.succeeded) == ({}, {}, {}, set())
    assert (steps.times_failed("a", None), steps.retries["a"]) == (1, 0)


def test_the_first_plan_of_a_run_leaves_what_was_skipped_before_it() -> None:
    steps = Steps()
    steps.step_skipped("a", SKIPPED)

    steps.plan_revised(replace(revised("failure"), diff=PlanDiff(added=("a",))), before=Pass(0))

    assert steps.is_skipped("a")


def test_a_step_has_failed_if_its_result_is_a_failure() -> None:
    steps = Steps({"a": SENT, "b": DOWN})

    assert [name for name in ("a", "b", "c") if steps.has_failed(name)] == ["b"]


def test_succeeded_steps_whose_criterion_nobody_judged_are_named_in_the_order_of_the_plan() -> None:
    plan = Plan(
        steps=tuple(
            Step(id=name, objective="o", success_criteria=None if name == "plain" else "it is good")
            for name in ("late", "early", "judged", "plain", "failed", "open")
        )
    )
    steps = Steps(dict.fromkeys(("early", "late", "judged", "plain"), SENT) | {"failed": DOWN}, judged={"judged"})

    assert steps.unjudged(plan) == ["late", "early"]


@pytest.mark.parametrize(
    ("opinions", "judged"),
    [([MET], True), ([NO_OPINION], False), ([None], False), ([MET, NO_OPINION], False), ([MET, None], False)],
)
def test_a_step_is_judged_as_long_as_the_last_check_came_to_an_opinion(opinions: list[Any], judged: bool) -> None:
    steps = Steps({"a": SENT})
    for opinion in opinions:
        steps.step_checked("a", StepChecked(met=True, revision=1, judged=opinion), Pass(1))

    assert ("a" in steps.judged) == judged


def when(name: str, of: str) -> dict[str, Any]:
    return {"id": name, "objective": "o", "when": {"of": f"{{{of}_result}}", "condition": "@"}}


CHAIN: Any = {
    "steps": [
        {"id": "w", "objective": "o"}, when("p", "w"), when("q", "p"), when("r", "w"), {"id": "x", "objective": "o"},
        when("y", "x"), when("z", "w"),
    ]
}  # fmt: skip


def test_a_result_that_a_person_gives_has_the_conditions_that_read_it_evaluated_anew_and_those_after_them() -> None:
    steps = Steps({"w": DOWN, "x": SENT})
    for name, met in {"p": False, "q": False, "r": True, "y": False, "z": True}.items():
        steps.condition_evaluated(name, ConditionEvaluated(met=met, condition="@", revision=1))
    steps.work_finished("r", finished(), Pass(1))
    steps.step_skipped("z", StepSkipped(why="", approver="os:ada"))

    given = ResultSupplied(result=Content(1), approver="os:ada")
    steps.result_supplied(Event(7, "result_supplied", "w", 5.0, {}), given, CHAIN)

    assert steps.conditions == {"r": True, "y": False}  # `r` has succeeded, and `y` reads another result
    assert {name: result.status for name, result in steps.results.items()} == {
        "w": "succeeded", "x": "succeeded", "r": "succeeded", "y": "skipped", "z": "skipped"
    }  # fmt: skip


def test_a_condition_of_a_step_that_is_tried_again_is_evaluated_anew_too() -> None:
    steps = Steps({"w": DOWN})
    steps.condition_evaluated("p", ConditionEvaluated(met=False, condition="@", revision=1))
    steps.run_reopened(RunReopened(again=("p",), approver="os:ada"))
    given = ResultSupplied(result=Content(1), approver="os:ada")

    steps.result_supplied(Event(7, "result_supplied", "w", 5.0, {}), given)
    assert steps.conditions == {"p": False}, "no plan says what it reads"

    steps.result_supplied(Event(8, "result_supplied", "w", 5.0, {}), given, CHAIN)
    assert (steps.conditions, set(steps.results)) == ({}, {"w"})


def test_steps_are_due_that_wait_for_nothing_more_and_whose_condition_is_met() -> None:
    plan, steps = Plan.model_validate(CHAIN), Steps({"w": SENT})
    for name, met in {"p": True, "q": True, "r": False}.items():
        steps.condition_evaluated(name, ConditionEvaluated(met=met, condition="@", revision=1))

    assert [step.id for step in due_in(plan, steps, plan.steps)] == ["w", "p", "x"]  # of `z` it is not evaluated yet
    steps.step_skipped("x", SKIPPED)
    assert [step.id for step in due_in(plan, steps, plan.steps)] == ["w", "p"]
    assert due_in(plan, steps, ()) == [] and steps.untaken == {"r"}


def test_a_revision_forgets_the_conditions_of_what_it_changes_and_of_what_reads_that() -> None:
    steps = Steps({"w": SENT, "x": SENT})
    for name in ("p", "q", "y"):
        steps.condition_evaluated(name, ConditionEvaluated(met=name == "y", condition="@", revision=1))
    diff = PlanDiff(changed=("p",))

    steps.plan_revised(replace(revised("failure"), plan=CHAIN, diff=diff), Pass(1))

    assert steps.conditions == {"y": True} and set(steps.results) == {"w", "x"}
