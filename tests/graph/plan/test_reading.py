"""Where the faults of a plan are, and what is left of it."""

from typing import Any

import pytest

from planner_executor.graph.plan.reading import read_plan

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


def test_a_step_as_a_whole_may_be_too_deep_and_then_no_field_of_it_is_read() -> None:
    deep: Any = 1
    for _ in range(120):
        deep = [deep]
    faults = issues({"steps": [{"id": "a", "objective": "o", "gather": deep, "unknown": 1}]})
    assert [fault[:1] for fault in faults] == [("a",)] and "nested deeper" in faults[0][2]


def test_a_key_that_is_no_text_is_a_fault_of_the_step() -> None:
    assert ("a", "step") in [fault[:2] for fault in issues({"steps": [step(**{"\ud800": 1})]})]


def test_a_missing_field_is_named() -> None:
    assert ("a", "objective", "missing; every step needs objective") in issues({"steps": [{"id": "a"}]})


def test_a_field_of_a_wrong_type_has_one_fault_in_the_words_of_json() -> None:
    wrong: dict[str, Any] = {"tools": "x", "output": 5, "timeout_s": "soon", "max_calls": 0, "literal": [4], "gate": ""}
    found = {(field, message) for _, field, message in issues({"steps": [step(**{k: v}) for k, v in wrong.items()]})}
    assert found == {
        ("id", "6 steps have this id; make ids unique"),
        ("tools", "must be a list"),
        ("output", 'must be "json" or a JSON Schema'),
        ("timeout_s", "must be a number of seconds"),
        ("max_calls", "must be at least 1"),
        ("literal[0]", "must be text"),
        ("gate", "must not be empty"),
    }
    assert [message for _, _, message in issues({"steps": [{"id": "1a", "objective": "\ud800"}]})] == [
        "text with a NUL character or a lone surrogate; remove it",
        "must be a letter, then letters, digits and underscores",
    ]


def test_a_reference_in_an_answer_without_steps_says_that_there_are_none() -> None:
    assert issues({"answer": "{a_result}"}) == [(None, "answer", "{a_result} refers to no step; the plan has no steps")]


@pytest.mark.parametrize("text", ['{"n": 1e999}', '{"n": [99999999999999999999999]}'])
def test_arguments_given_as_json_text_are_checked_too(text: str) -> None:
    found = read_plan({"steps": [step(tool="t", arguments=text)]}, NO_TOOLS)
    assert found.plan is None
    assert any(issue.field.startswith("args.n") for issue in found.issues)


def test_a_fault_of_arguments_given_as_an_object_is_told_once() -> None:
    faults = issues({"steps": [step(tool="t", arguments={"n": "\0"})]})
    assert len([fault for fault in faults if "NUL" in fault[2]]) == 1
