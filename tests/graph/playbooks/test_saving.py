import re
from typing import Any

import pytest

from planner_executor.graph.errors import InputError
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.reading import read_plan
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.playbooks.playbook import Playbook
from planner_executor.graph.playbooks.saving import kept_plan

HEAD = {"name": "mail", "version": 1, "description": "Write to Ben"}
STEPS: list[dict[str, Any]] = [
    {"id": "look", "objective": "Find Ben", "args": {"who": "Ben", "most": 3}},
    {"id": "mail", "objective": "Benign", "args": {"text": "Dear Ben, {look_result}"}, "checks": [{"matches": "Ben"}]},
]
PLACES = ["look.args.who", "look.objective", "mail.args.text", "mail.checks[0].matches", "description"]


def plan(**more: Any) -> Plan:
    parsed = read_plan({"steps": STEPS, "answer": "{mail_result}", **more}, {})
    assert parsed.plan is not None, parsed.issues
    return parsed.plan


def test_values_become_parameters_in_each_place_that_is_named() -> None:
    named = [*(("who", place) for place in PLACES if "checks" not in place), ("most", "look.args.most")]

    found = kept_plan(plan(), {}, HEAD, named, keep=["mail.checks[0].matches"])

    assert found.description == "Write to {param.who}"
    assert found.steps[0] == {
        "id": "look",
        "objective": "Find {param.who}",
        "args": {"who": "{param.who}", "most": "{param.most}"},
    }
    assert found.steps[1]["args"] == {"text": "Dear {param.who}, {look_result}"}
    assert found.parameters == {
        "who": {"type": "string", "examples": ["Ben"]},
        "most": {"type": "integer", "examples": [3]},
    }


def test_no_other_place_of_a_value_is_overlooked() -> None:
    with pytest.raises(InputError) as refused:
        kept_plan(plan(), {}, HEAD, [("who", "look.args.who")])

    assert all(place in str(refused.value) for place in PLACES[1:]) and "Benign" not in str(refused.value)
    assert "mail.objective" not in str(refused.value)


def test_a_place_may_keep_its_value() -> None:
    found = kept_plan(plan(), {}, HEAD, [("who", "look.args.who")], keep=PLACES[1:])

    assert found.steps[0]["objective"] == "Find Ben"


ODD: dict[str, Any] = {
    "id": "odd",
    "objective": "o",
    "tool": "send",
    "args": {"raw": "Ben", "none": None, "empty": "", "map": {"b": 1, "a": ["x_result"]}, "flag": True, "id": "Bo"},
    "literal": ["raw"],
    "for_each": {"raw": "Cy"},
    "when": {"of": "Di", "condition": "Di"},
    "success_criteria": "['a'] True",
}


def kept(*named: tuple[str, str], keep: Any = (), **more: Any) -> Playbook:
    """The playbook of a plan of the step `odd`."""
    given = Plan.model_validate({"steps": [{**ODD, **more}], "answer": {"text": "Al", "list": ["a"]}})
    return kept_plan(given, {}, HEAD, named, keep)


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("look.args.nobody", "there is no place look.args.nobody"),
        ("nowhere.args.who", "there is no place"),
        ("mail.args.text", "holds a reference"),
        ("look.args.who[0].x", "there is no place"),
        ("mail.checks[0].matches", "takes no parameter"),
        ("look.id", "takes no parameter"),
    ],
)
def test_a_place_without_a_value_of_its_own_is_refused(place: str, why: str) -> None:
    with pytest.raises(InputError, match=re.escape(why)):
        kept_plan(plan(), {}, HEAD, [("who", place)])


@pytest.mark.parametrize(
    ("named", "why"),
    [
        ([("p", "odd.args.raw")], "odd.args.raw takes no parameter"),
        ([("p", "odd.when.condition")], "takes no parameter"),
        ([("p", "odd.args.none")], "holds null, which is no value"),
        ([("p", "answer.text"), ("p", "odd.objective")], "odd.objective does not hold the value of p"),
        ([("p", "answer.list"), ("p", "odd.objective")], "holds another value than p has"),
        ([("p", "odd.args.id")], "in description"),
    ],
)
def test_what_cannot_be_a_parameter_is_refused(named: list[tuple[str, str]], why: str) -> None:
    with pytest.raises(InputError, match=re.escape(why)):
        kept_plan(
            Plan.model_validate({"steps": [ODD], "answer": {"text": "Al", "list": ["a"]}}),
            {},
            {**HEAD, "description": "To Bo"},
            named,
        )


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("odd.for_each.raw", "Cy"),
        ("odd.when.of", "Di"),
        ("odd.args.empty", ""),
        ("odd.args.map", {"b": 1, "a": ["x_result"]}),
        ("odd.args.map.b", 1),
        ("odd.args.map.a[0]", "x_result"),
        ("odd.args.flag", True),
        ("answer.list", ["a"]),
        ("answer.list[0]", "a"),
    ],
)
def test_a_value_of_any_type_in_any_place_may_be_a_parameter(place: str, value: Any) -> None:
    keep = {"odd.when.of": ["odd.when.condition"], "answer.list[0]": ["odd.success_criteria"]}

    assert kept(("p", place), keep=keep.get(place, ())).parameters["p"]["examples"] == [value]


def test_names_of_steps_and_tools_are_no_places_of_a_value_but_arguments_of_these_names_are() -> None:
    assert kept(("p", "odd.objective"), objective="send").parameters != {}
    with pytest.raises(InputError, match=r"that of p in odd.args.id; make"):
        kept(("p", "odd.objective"), objective="Bo")


def test_tools_are_kept_as_they_are_and_those_that_are_not_known_are_left_out() -> None:
    steps = [{"id": name, "objective": "o", "tool": name} for name in ("send", "gone")]

    found = kept_plan(Plan.model_validate({"steps": steps}), {"send": ToolSpec("send", "", {})}, HEAD, [])

    assert list(found.tools) == ["send"]


def test_a_parameter_of_no_type_has_an_example() -> None:
    step = {"id": "s", "objective": "Say {param.p}"}
    given = Plan.model_validate({"steps": [step], "params": {"p": {"value": None, "label": "user"}}})

    assert kept_plan(given, {}, HEAD, []).parameters == {"p": {"examples": [None]}}


def test_a_place_with_another_value_is_refused() -> None:
    with pytest.raises(InputError, match="another value"):
        kept_plan(plan(), {}, HEAD, [("who", "look.args.who"), ("who", "look.args.most")], keep=PLACES)


def test_a_plan_with_parameters_keeps_them() -> None:
    steps = [{"id": "look", "objective": "o", "args": {"who": "{param.who}"}}]
    given = plan(steps=steps, answer=None, params={"who": {"value": "Ann", "label": "user"}})

    found = kept_plan(given, {}, HEAD, [])

    assert found.parameters == {"who": {"type": "string", "examples": ["Ann"]}}
    assert found.steps[0]["args"] == {"who": "{param.who}"}


def test_a_step_that_made_up_for_a_failed_one_is_kept_without_that_one() -> None:
    revised = plan()
    step = revised.steps[0].model_copy(update={"replaces": "gone"})

    found = kept_plan(revised.model_copy(update={"steps": (step, revised.steps[1])}), {}, HEAD, [])

    assert "replaces" not in found.steps[0]
