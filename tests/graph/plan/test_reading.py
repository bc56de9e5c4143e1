"""Where the faults of a plan are, and what is left of it."""

from typing import Any

import pytest

from graph.plan.reading import read_plan

NO_TOOLS: Any = {}


def issues(raw: Any) -> list[tuple[str | None, str, str]]:
    return [(issue.step, issue.field, issue.message) for issue in read_plan(raw, NO_TOOLS).issues]


def step(**fields: Any) -> dict[str, Any]:
    return {"id": "a", "objective": "o", **fields}


def test_a_plan_of_nothing_is_empty_and_one_of_an_answer_alone_is_not() -> None:
    assert issues({}) == [(None, "steps", "the plan is empty: give steps, or an answer")]
    assert read_plan({"answer": 4}, NO_TOOLS).plan is not None
    assert [field for _, field, _ in issues({"answer_": 1, "more": 2})] == ["answer_", "more"], "no issue of emptiness"


def test_text_that_is_no_plan_is_named_and_broken_json_says_where_it_breaks() -> None:
    ((_, field, message),) = issues("do it")
    assert field == "plan" and message == 'a plan must be an object with "steps"'
    ((_, field, message),) = issues('{"steps": [{"id": "a",}}')
    assert field == "plan" and "line 1" in message


def test_a_fault_of_a_step_is_at_its_place() -> None:
    faults = issues({"steps": [step(args={"x": {"y": "\0"}}), step(id="b", checks=[{"not_empty": True}, 3])]})
    assert ("a", "args.x.y") in [fault[:2] for fault in faults]
    assert ("b", "checks[1]") in [fault[:2] for fault in faults]


def test_a_step_as_a_whole_may_be_too_deep() -> None:
    deep: Any = 1
    for _ in range(120):
        deep = [deep]
    faults = issues({"steps": [{"id": "a", "objective": "o", "gather": deep}]})
    assert [fault[:1] for fault in faults] == [("a",)] and "nested deeper" in faults[0][2]


def test_a_key_that_is_no_text_is_a_fault_of_the_step() -> None:
    assert ("a", "step") in [fault[:2] for fault in issues({"steps": [step(**{"\ud800": 1})]})]


def test_a_missing_field_is_named() -> None:
    assert ("a", "objective", "missing; every step needs objective") in issues({"steps": [{"id": "a"}]})


def test_a_message_of_the_type_is_kept_when_the_field_is_there() -> None:
    ((_, field, message),) = [fault for fault in issues({"steps": [step(max_calls=0)]}) if fault[1] == "max_calls"]
    assert field == "max_calls" and message and not message.startswith("missing")


@pytest.mark.parametrize("text", ['{"n": 1e999}', '{"n": [99999999999999999999999]}'])
def test_arguments_given_as_json_text_are_checked_too(text: str) -> None:
    found = read_plan({"steps": [step(tool="t", arguments=text)]}, NO_TOOLS)
    assert found.plan is None
    assert any(issue.field.startswith("args.n") for issue in found.issues)


def test_a_fault_of_arguments_given_as_an_object_is_told_once() -> None:
    faults = issues({"steps": [step(tool="t", arguments={"n": "\0"})]})
    assert len([fault for fault in faults if "NUL" in fault[2]]) == 1
