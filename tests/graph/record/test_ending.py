"""Promise 7, an honest end: the status follows from the steps."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.record.ending import Ending, answer_of, ending_of
from planner_executor.graph.record.results import StepResult

CHAIN = (Step(id="a", objective="o"), Step(id="b", objective="o", depends_on=("a",)))
SIDES = (Step(id="a", objective="o"), Step(id="b", objective="o"))
FAILED = StepResult("failed", error="no luck")


def end(plan: Plan, values: dict[str, Any], results: dict[str, StepResult] | None = None, **more: Any) -> Ending:
    return ending_of(plan, results or {}, values, **more)


def test_all_steps_succeeded_and_the_last_one_is_the_answer() -> None:
    assert end(Plan(steps=CHAIN), {"a": 1, "b": 2}) == Ending("succeeded", "2 of 2 steps succeeded", 2)


def test_a_step_that_is_only_referred_to_is_awaited_and_not_the_last() -> None:
    plan = Plan(steps=(Step(id="a", objective="o"), Step(id="b", objective="o", args={"x": "{a_result}"})))

    assert end(plan, {"a": 1, "b": 2}).answer == 2


def test_several_last_steps_make_an_object() -> None:
    assert end(Plan(steps=SIDES), {"a": 1, "b": None}) == Ending(
        "succeeded", "2 of 2 steps succeeded", {"a": 1, "b": None}
    )


def test_null_as_a_result_is_an_answer() -> None:
    assert end(Plan(steps=CHAIN), {"a": 1, "b": None}).status == "succeeded"


def test_a_direct_answer_needs_no_step() -> None:
    assert end(Plan(answer={"n": 42}), {}) == Ending("succeeded", "answered without a plan", {"n": 42})


@pytest.mark.parametrize("answer", ["", 0, False, []])
def test_an_answer_that_python_takes_for_nothing_is_one(answer: Any) -> None:
    assert end(Plan(answer=answer), {}) == Ending("succeeded", "answered without a plan", answer)


def test_the_plan_says_what_is_answered() -> None:
    plan = Plan(steps=CHAIN, answer={"first": "{a_result.n}", "words": "b is {b_result}"})

    assert end(plan, {"a": {"n": 1}, "b": [2]}).answer == {"first": 1, "words": "b is [2]"}


def test_without_the_last_result_the_run_failed() -> None:
    ending = end(Plan(steps=CHAIN), {"a": 1}, {"b": FAILED})

    assert ending == Ending("failed", "b failed: no luck")


def test_what_blocked_the_rest_is_in_the_reason() -> None:
    results = {"a": FAILED, "b": StepResult("blocked", error="waits for a, which failed")}

    assert end(Plan(steps=CHAIN), {}, results).reason == "a failed: no luck, b blocked: waits for a, which failed"


def test_with_some_of_the_last_results_it_is_partial() -> None:
    assert end(Plan(steps=SIDES), {"a": 1}, {"b": FAILED}) == Ending("partial", "missing: b failed: no luck", {"a": 1})


def test_an_answer_that_stands_although_steps_are_missing_is_partial() -> None:
    plan = Plan(steps=SIDES, answer="{a_result}")

    assert end(plan, {"a": 1}, {"b": FAILED}) == Ending("partial", "missing: b failed: no luck", 1)


def test_an_answer_that_needs_a_missing_step_is_none() -> None:
    ending = end(Plan(steps=SIDES, answer=["{a_result}", "{b_result}"]), {"a": 1}, {"b": FAILED})

    assert (ending.status, ending.answer) == ("failed", None)


def test_an_answer_that_points_at_nothing_fails_a_run_whose_steps_all_succeeded() -> None:
    ending = end(Plan(steps=CHAIN, answer="{a_result.gone}"), {"a": {}, "b": 1})

    assert ending.status == "failed"
    assert ".gone" in ending.reason


def test_a_step_that_never_ran_is_named() -> None:
    assert end(Plan(steps=SIDES), {"a": 1}).reason == "missing: b did not run"


def test_a_failed_step_that_was_dropped_is_never_forgotten() -> None:
    assert end(Plan(steps=CHAIN), {"a": 1, "b": 2}, dropped=["c"]) == Ending(
        "partial", "missing: c failed and was dropped", 2
    )


def test_a_long_list_of_missing_steps_is_cut() -> None:
    plan = Plan(steps=tuple(Step(id=f"s{place}", objective="o") for place in range(20)))

    assert end(plan, {}).reason.endswith("and 12 more")


plans = st.builds(
    lambda edges, answer: Plan(
        steps=tuple(
            Step(id=f"s{place}", objective="o", depends_on=tuple(f"s{before}" for before in befores if before < place))
            for place, befores in enumerate(edges)
        ),
        answer=answer,
    ),
    st.lists(st.sets(st.integers(0, 3), max_size=2), min_size=1, max_size=4),
    st.sampled_from([None, "x", "{s0_result}"]),
)


@given(plans, st.data())
def test_a_success_never_hides_a_step(plan: Plan, data: st.DataObject) -> None:
    ids = [step.id for step in plan.steps]
    values = {step: data.draw(st.integers()) for step in data.draw(st.sets(st.sampled_from(ids)))}
    dropped = data.draw(st.lists(st.just("x"), max_size=1))

    ending = ending_of(plan, {}, values, dropped)

    assert (ending.status == "succeeded") == (set(values) == set(ids) and not dropped)
    assert ending.status in ("succeeded", "partial", "failed")
    if ending.status == "failed":
        assert ending.answer is None


@given(plans, st.data())
def test_an_answer_never_comes_from_a_step_that_did_not_succeed(plan: Plan, data: st.DataObject) -> None:
    ids = [step.id for step in plan.steps]
    values = {step: f"value of {step}" for step in data.draw(st.sets(st.sampled_from(ids)))}

    answer, answered = answer_of(plan, values)

    assert answered or not answer
    for step in set(ids) - set(values):
        assert f"value of {step}" not in str(answer)


SKIPPED = StepResult("skipped", error="skipped by os:ada")


@pytest.mark.parametrize(
    ("answer", "given"),
    [
        ({"a": "{a_result.n}", "b": "{b_result.n[0]}"}, {"a": 1, "b": None}),
        (["{a_result}", "$${b_result} of {a_result.n} and {{b_result}}"], [{"n": 1}, "$null of 1 and {b_result}"]),
        ("{b_result} and {b_result}", "null and null"),
    ],
)
def test_an_answer_that_names_a_skipped_step_keeps_its_other_parts(answer: Any, given: Any) -> None:
    reason = "missing: what b would have given to the answer; skipped: b (skipped by os:ada)"

    assert end(Plan(steps=SIDES, answer=answer), {"a": {"n": 1}}, {"b": SKIPPED}) == Ending("partial", reason, given)


def test_an_answer_that_is_nothing_but_a_skipped_step_is_none() -> None:
    ending = end(Plan(steps=SIDES, answer="{b_result.n}"), {"a": 1}, {"b": SKIPPED})

    assert ending == Ending("partial", "a skipped step was needed for the answer; skipped: b (skipped by os:ada)", None)


def test_a_failed_step_in_the_answer_leaves_none_beside_a_skipped_one() -> None:
    steps = (*SIDES, Step(id="c", objective="o"))
    plan = Plan(steps=steps, answer=["{a_result}", "{b_result}", "{c_result}"])

    assert end(plan, {"a": 1}, {"b": SKIPPED, "c": FAILED}).answer is None


def test_parts_that_a_step_lacks_are_missing_if_it_succeeded() -> None:
    lacking = {"a": ["a: item 2 failed"], "b": ["b: item 1 failed"]}

    ending = end(Plan(steps=SIDES), {"a": 1}, {"b": FAILED}, lacking=lacking)

    assert ending == Ending("partial", "missing: b failed: no luck, a: item 2 failed", {"a": 1})


def test_criteria_that_nobody_judged_are_named() -> None:
    ending = end(Plan(steps=CHAIN), {"a": 1, "b": 2}, unjudged=["a"])

    assert ending.reason == "2 of 2 steps succeeded; success criteria that nobody judged: a"


def test_a_skipped_step_that_the_answer_does_not_name_is_not_missing() -> None:
    plan = Plan(steps=SIDES, answer="{a_result}")

    assert end(plan, {"a": 1}, {"b": SKIPPED}) == Ending(
        "succeeded", "1 of 2 steps succeeded; skipped: b (skipped by os:ada)", 1
    )


def test_without_an_answer_of_the_plan_skipped_steps_are_not_the_last() -> None:
    assert end(Plan(steps=CHAIN), {"a": 1}, {"b": SKIPPED}).answer == 1


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (FAILED, "b failed, and what took its place does not make up for it: no luck"),
        (StepResult("failed"), "b failed, and what took its place does not make up for it"),
    ],
)
def test_a_failed_step_whose_replacement_does_not_make_up_for_it_is_missing(result: StepResult, words: str) -> None:
    assert end(Plan(steps=CHAIN), {"a": 1, "b": 2}, {"b": result}, dropped=["b"]).reason == f"missing: {words}"


def test_a_step_without_an_error_has_its_status_as_the_reason() -> None:
    assert end(Plan(steps=SIDES), {"a": 1}, {"b": StepResult("interrupted")}).reason == "missing: b interrupted"


def test_what_a_way_that_was_not_taken_would_have_given_is_not_missing() -> None:
    plan, results = Plan(steps=SIDES, answer={"b": "{b_result}", "a": "{a_result}"}), {"b": SKIPPED}

    assert end(plan, {"a": 1}, results, untaken=["b"]).status == "succeeded"
    assert "what b would have given to the answer" in end(plan, {"a": 1}, results).reason
    assert end(Plan(steps=SIDES), {}, {"a": SKIPPED, "b": SKIPPED}, untaken=["a", "b"]).status == "succeeded"


def test_a_run_without_an_answer_failed_if_a_step_did_whatever_else_was_skipped() -> None:
    assert end(Plan(steps=SIDES), {}, {"a": SKIPPED, "b": FAILED}).status == "failed"
