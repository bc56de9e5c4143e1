"""Grants: what an approval gives a step, and that no call gets by it."""

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from planner_executor.graph.plan.schema import Step
from planner_executor.graph.policy.grants import Grant, Refused, json_equal

LOOK_ALIKES = [1, True, 1.0, "1", 0, False, -0.0, None, "", "a", "а", "ａ", "a ", [], {}, [1], [True], {"a": 1}]  # noqa: RUF001
VALUES = st.sampled_from([*LOOK_ALIKES, "{page_result}", "{{page_result}}"])
NAMES = st.sampled_from(["to", "body", "extra"])


def anything(_name: str) -> bool:
    return True


def only(*names: str) -> Any:
    return names.__contains__


def text_of(value: Any) -> str:
    """Tell JSON values apart as another program would: 1 and 1.0 are one number, 1 and true are not."""
    return json.dumps(int(value) if isinstance(value, float) and value.is_integer() else value, sort_keys=True)


def bound(step: Step, asked: dict[str, Any], takes: Any = anything) -> dict[str, Any] | None:
    try:
        return Grant.of(step).bound(asked, takes)
    except Refused:
        return None


def test_a_deterministic_step_is_granted_one_call_of_its_tool_with_its_arguments() -> None:
    step = Step(id="s", objective="o", tool="send", args={"to": "ann", "body": "see {page_result.url}"})

    assert Grant.of(step).to_json() == {
        "step": "s",
        "tools": ["send"],
        "calls": 1,
        "pinned": {"to": "ann"},
        "sources": {"body": ["{page_result.url}"]},
    }


def test_a_model_step_is_granted_its_tools_once_each_unless_it_says_otherwise() -> None:
    once, often = Step(id="s", objective="o", tools=("a", "b")), Step(id="s", objective="o", tools=("a",), max_calls=3)

    assert [(Grant.of(step).tools, Grant.of(step).calls) for step in (once, often)] == [(("a", "b"), 1), (("a",), 3)]
    assert Grant.of(Step(id="s", objective="think")).tools == ()


def test_a_literal_form_of_a_reference_is_pinned_as_the_text_that_it_stands_for() -> None:
    step = Step(id="s", objective="o", tool="send", args={"body": "{{page_result}}"})

    assert Grant.of(step).pinned == {"body": "{page_result}"}


@given(
    st.lists(st.sampled_from(["send", "read"]), unique=True),
    st.integers(1, 3),
    st.lists(st.sampled_from(["send", "read", "pay", "Send", "send ", ""]), max_size=12),
)
def test_no_call_of_another_tool_and_none_too_many_is_admitted(tools: Any, most: int, asked: list[str]) -> None:
    grant = Grant.of(Step(id="s", objective="o", tools=tuple(tools), max_calls=most))
    made: Counter[str] = Counter()
    for tool in asked:
        try:
            grant.check(tool, made)
        except Refused:
            assert tool not in tools or made[tool] == most
            continue
        made[tool] += 1

    assert set(made) <= set(tools) and all(count <= most for count in made.values())


@given(st.dictionaries(NAMES, VALUES), st.dictionaries(NAMES, VALUES))
@example({"to": 1}, {"to": True})
@example({"to": "a"}, {"to": "а"})  # noqa: RUF001
def test_a_model_can_change_no_literal_and_add_no_argument_where_the_plan_gives_some(
    given_args: dict[str, Any], asked: dict[str, Any]
) -> None:
    assume(given_args)
    step = Step(id="s", objective="o", tools=("send",), args=given_args)
    literals = {name: value for name, value in given_args.items() if value != "{page_result}"}

    args = bound(step, asked)

    if args is not None:
        assert set(args) <= set(given_args)
        for name, value in literals.items():
            expected = "{page_result}" if value == "{{page_result}}" else value
            assert text_of(args[name]) == text_of(expected)


@given(st.dictionaries(NAMES, VALUES), st.dictionaries(NAMES, VALUES))
def test_a_deterministic_step_has_no_other_arguments_than_the_plans(
    given_args: dict[str, Any], asked: dict[str, Any]
) -> None:
    args = bound(Step(id="s", objective="o", tool="send", args=given_args), asked)

    assert args is None or set(args) <= set(given_args)


def test_what_a_model_leaves_out_is_filled_in_from_the_plan() -> None:
    step = Step(id="s", objective="o", tools=("send",), args={"to": "ann", "body": "{page_result}"})

    assert bound(step, {"body": "anything"}) == {"to": "ann", "body": "anything"}
    assert bound(step, {}) == {"to": "ann"}


def test_a_literal_is_pinned_for_those_tools_that_take_it() -> None:
    step = Step(id="s", objective="o", tools=("send", "read"), args={"to": "ann"})

    assert bound(step, {}, only("path")) == {}
    assert bound(step, {"path": "x"}, only("path")) is None


def test_without_arguments_in_the_plan_all_are_open_to_a_model_and_none_to_a_deterministic_step() -> None:
    assert bound(Step(id="s", objective="o", tools=("send",)), {"to": "x"}) == {"to": "x"}
    assert bound(Step(id="s", objective="o", tool="send"), {"to": "x"}) is None


def test_no_argument_is_added_to_a_call_whose_arguments_are_all_references() -> None:
    step = Step(id="s", objective="o", tools=("send",), args={"body": "{page_result}"})

    assert bound(step, {"body": "a text"}) == {"body": "a text"}
    assert bound(step, {"body": "a text", "to": "attacker"}) is None


def test_a_deterministic_step_is_granted_one_call_whatever_else_it_says() -> None:
    assert Grant.of(Step(id="s", objective="o", tool="send", max_calls=3)).calls == 1


@given(VALUES, VALUES)
@example([1], [True])
@example({"a": 1}, {"a": True})
def test_two_values_are_the_same_where_they_are_the_same_json(one: Any, other: Any) -> None:
    assert json_equal(one, other) == (text_of(one) == text_of(other))


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), "half \ud800", {1: 2}, b"1", object()])
def test_what_is_no_json_is_the_same_as_nothing(odd: Any) -> None:
    assert not json_equal(odd, 1) and not json_equal(odd, "1")


def test_something_that_holds_itself_is_the_same_as_nothing() -> None:
    endless: list[Any] = []
    endless.append(endless)

    assert not json_equal(endless, [1])
