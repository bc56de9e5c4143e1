"""Steps and plans as values: what follows from their fields follows from those of a copy too."""

from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import ValidationError

from planner_executor.graph.plan.params import Param
from planner_executor.graph.plan.schema import Plan, Step, is_step_id

STEP = Step(id="b", objective="o", tool="look", args={"q": "{a_result}"})


def test_a_copy_with_other_fields_is_read_anew() -> None:
    assert (STEP.waits, [*STEP.argument_references], STEP.kind) == (("a",), ["q"], "tool")

    copied = STEP.model_copy(update={"tool": None, "args": {"text": "{c_result}"}, "depends_on": ("d",)})

    assert (copied.waits, [*copied.argument_references], copied.kind) == (("d", "c"), ["text"], "model")


def test_a_copy_of_a_plan_has_a_digest_of_its_own() -> None:
    plan = Plan(steps=(STEP,))
    assert list(plan.by_id) == ["b"] and plan.digest

    copied = plan.model_copy(update={"steps": ()})

    assert plan.model_copy().steps is plan.steps
    assert not copied.by_id and copied.digest == Plan().digest != plan.digest


def test_two_steps_are_equal_whatever_was_asked_of_one_of_them() -> None:
    other = Step.model_validate(STEP.model_dump())
    assert STEP.waits == ("a",)

    assert other == STEP and other.to_json() == STEP.to_json()


PARAMS = {name: Param(value=name.upper(), label="user") for name in ("a", "b", "c", "d")}
FULL: Mapping[str, Any] = {
    "id": "s",
    "objective": "Of {param.a}",
    "tool": "look",
    "args": {"q": "{x_result} {param.b}", "text": "{y_result} {param.c}", "n": 1, "item": "{item_result}"},
    "literal": ["text"],
    "for_each": "{z_result}",
    "when": {"of": "{w_result}", "condition": "@"},
    "depends_on": ["v", "x"],
}


def step(**fields: Any) -> Step:
    return Step.model_validate({"id": "s", "objective": "o", **fields})


@pytest.mark.parametrize(
    "fields",
    [
        {"attempts": 1, "max_calls": 1, "max_items": 1, "max_failures": 0, "batch": 2, "backoff_s": 0},
        {"ask": "?", "objective": "o"},
        {"gate": "!"},
    ],
)
def test_the_least_of_a_limit_is_allowed_and_a_field_never_changes(fields: dict[str, Any]) -> None:
    found = step(**fields)

    assert {name: getattr(found, name) for name in fields} == fields
    assert found.to_json() == {"id": "s", "objective": "o", **fields}
    with pytest.raises(ValidationError):
        found.id = "t"  # type: ignore[misc]


@pytest.mark.parametrize(("value", "can_be"), [("a_1", True), ("1a", False), ("a b", False), (7, False), (None, False)])
def test_the_id_of_a_step_is_a_name(value: Any, can_be: bool) -> None:
    assert is_step_id(value) is can_be


def test_a_step_has_the_parameters_that_it_names_while_its_plan_has_them() -> None:
    (bound,) = Plan.model_validate({"params": PARAMS, "steps": [FULL]}).steps

    assert list(bound.params) == ["a", "b"] and bound.bound(PARAMS) is bound
    assert bound.bound({}).params == {} and step().bound({}) == step().bound(PARAMS) == step()
    assert [one.name for one in bound.parameters_of("q")] == ["b"]
    assert bound.parameters_of("text") == bound.bound({}).parameters_of("q") == ()
    assert [bound.told_arg(name) for name in ("q", "text")] == ["{x_result} B", "{y_result} {param.c}"]


def test_references_of_a_step_are_those_outside_of_literal_text_and_of_its_items() -> None:
    full = step(**FULL)

    assert [one.step for one in full.references()] == ["x", "z", "w"]
    assert full.waits == ("v", "x", "z", "w")
    assert [one.step for one in full.references_of_items()] == ["z"]
    assert [one.step for one in step(args={"q": "{item_result}"}).references()] == ["item"]
    assert list(full.open_args) == ["q", "n", "item"] and full.fixed_args() == {"text": "{y_result} {param.c}", "n": 1}
    assert step(gather={"all": "{g_result}"}).waits == ("g",)


def test_steps_are_renamed_outside_of_literal_text() -> None:
    full, names = step(**FULL), {"x": "x2", "y": "y2", "w": "w2"}

    assert full.renamed_args(names) == {**FULL["args"], "q": "{x2_result} {param.b}"}
    assert full.renamed_when(names) == {"of": "{w2_result}", "condition": "@"} and step().renamed_when(names) is None


@pytest.mark.parametrize(
    ("fields", "most"),
    [({}, 1), ({"max_items": 3}, 1), ({"for_each": [1]}, 20), ({"for_each": [1], "max_items": 3}, 3)],
)
def test_a_step_has_an_item_or_twenty_if_it_does_not_say(fields: dict[str, Any], most: int) -> None:
    assert step(**fields).most_items == most


@pytest.mark.parametrize(
    ("fields", "names"),
    [({"tool": "a"}, ("a",)), ({"tools": ["a", "b"]}, ("a", "b")), ({}, ())],
)
def test_the_tools_of_a_step_are_its_tool_or_those_of_its_model(fields: dict[str, Any], names: tuple[str, ...]) -> None:
    assert step(**fields).tool_names == names


def test_steps_are_the_same_if_their_json_is() -> None:
    one, true = (step(tool="t", args={"n": value}) for value in (1, True))

    assert one == true and not one.same_as(true) and one.same_as(step(tool="t", args={"n": 1}))
    assert not one.same_as(None) and not one.same_as(step())


def test_above_a_step_are_those_that_it_was_expanded_from_each_once() -> None:
    steps = [{"id": name, "objective": "o", "parent": above} for name, above in (("a", None), ("b", "a"), ("c", "b"))]
    circle = [{"id": name, "objective": "o", "parent": above} for name, above in (("a", "b"), ("b", "a"))]

    def above(*steps: dict[str, Any]) -> list[str]:
        plan = Plan.model_validate({"steps": steps})
        return [one.id for one in plan.above(plan.steps[-1])]

    assert above(*steps) == ["b", "a"] and above(*circle) == ["a"] and above(*circle, steps[2]) == ["b", "a"]
    assert above(steps[2]) == []


@pytest.mark.parametrize(
    ("fields", "is_read_anew"),
    [
        ({"args": {"n": "{length(a_result)}"}}, True),
        ({"for_each": "{keys(a_result)}"}, True),
        ({"gather": ["{length(a_result)}"]}, True),
        ({"args": {"n": "{length(a_result)}"}, "literal": ["n"]}, False),
        ({"args": {"n": "{a_result.n}"}}, False),
    ],
)
def test_a_plan_whose_references_had_another_meaning_says_so(fields: dict[str, Any], is_read_anew: bool) -> None:
    assert Plan(steps=(step(id="a"), step(**fields))).is_read_anew is is_read_anew
    assert Plan(steps=(step(id="a"),), answer="{length(a_result)}").is_read_anew


def test_the_json_of_a_plan_has_what_it_has() -> None:
    steps = [{"id": "s", "objective": "o"}]

    assert Plan(steps=(step(),)).to_json() == {"steps": steps}
    whole = Plan(steps=(step(),), answer=0, params={"a": PARAMS["a"]}).to_json()
    assert whole == {"steps": steps, "answer": 0, "params": {"a": {"value": "A", "label": "user"}}}
