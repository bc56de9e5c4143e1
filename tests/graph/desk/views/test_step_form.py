"""A step of a plan as a form."""

from typing import Any

import pytest

from planner_executor.graph.desk.views.step_form import (
    argument_fields,
    done_by,
    found_steps,
    kept_arguments,
    names_in,
    step_forms,
    step_list,
)
from planner_executor.graph.plan.catalog import ToolSpec

TOOLS = {
    "send": ToolSpec("send", "", {"properties": {"to": {}, "text": {}}, "required": ["to"]}),
    "look": ToolSpec("look", "", {"properties": {"what": {}}}),
}
SEND: dict[str, Any] = {"id": "a", "objective": "Send it", "tool": "send", "args": {"to": "x", "n": 1}}


@pytest.mark.parametrize(
    ("step", "does", "fields"),
    [
        (SEND, "send", [("/to", True), ("/text", False), ("/n", False)]),
        ({"tools": ["send"]}, "send", [("/to", False), ("/text", False)]),
        ({"tools": ["send", "look"]}, "send, look", [("/to", False), ("/text", False), ("/what", False)]),
        ({"tool": "send", "args": {}}, "send, look", [("/to", False), ("/text", False), ("/what", False)]),
        ({"tools": ["send", "gone"]}, "send, gone", [("", True)]),
        ({"tool": "gone", "args": {"to": "x"}}, "gone", [("", True)]),
        ({"tool": "gone"}, "", [("", True)]),
    ],
)
def test_arguments_have_the_fields_of_all_tools_that_are_known(step: Any, does: str, fields: Any) -> None:
    assert [(field.name, field.required) for field in argument_fields(step, does, TOOLS)] == fields


@pytest.mark.parametrize(
    ("step", "does", "kept"),
    [
        (SEND, "send", {"to": "x", "n": 1}),
        (SEND, "send, look", {"to": "x"}),
        (SEND, "look, gone", {}),
        ({**SEND, "args": "text"}, "look", "text"),
        ({"tool": "send"}, "look", {}),
    ],
)
def test_other_tools_keep_the_arguments_that_one_of_them_takes(step: Any, does: str, kept: Any) -> None:
    assert kept_arguments(step, does, TOOLS) == kept


def test_an_empty_argument_is_no_value_of_a_field() -> None:
    assert argument_fields({"tool": "gone", "args": {}}, "gone", TOOLS)[0].text == ""


@pytest.mark.parametrize(
    ("plan", "steps"),
    [({"steps": [SEND, 5]}, [SEND]), ({"steps": 5}, []), ({"steps": None}, []), ([], []), (5, [])],
)
def test_what_of_a_plan_are_steps_is_found(plan: Any, steps: Any) -> None:
    assert step_list(plan) == steps


def test_steps_are_found_by_all_words() -> None:
    assert found_steps({"steps": [SEND]}, "SEND it") == [SEND] and found_steps({"steps": [SEND]}, "send no") == []


def test_a_form_has_what_can_be_seen_and_names_what_only_the_text_of_the_plan_changes() -> None:
    gate = {"id": "g", "gate": "Go?", "max_calls": 2, "success_criteria": "a\u202eb", "depends_on": ["a"]}
    asks = {"id": "q", "ask": "Which?"}

    first, second, third = step_forms([SEND, gate, asks], frozenset({"a"}), TOOLS, {"step:a:does": "look"})

    assert (first.does, [field.name for field in first.args], first.asks, first.done) == (
        "send",
        ["/what"],
        False,
        True,
    )
    assert (second.question, second.asks, second.done, second.success_criteria) == ("Go?", True, False, None)
    assert (second.extra, second.depends_on, first.extra) == (("success_criteria", "max_calls"), ("a",), ())
    assert (third.question, third.asks, third.objective) == ("Which?", True, "")


@pytest.mark.parametrize(
    ("step", "names"),
    [({"tool": "a"}, "a"), ({"tools": ["a", "b"]}, "a, b"), ({"tool": "", "tools": ["a"]}, "a"), ({}, "")],
)
def test_who_does_a_step_is_told_with_commas(step: Any, names: str) -> None:
    assert done_by(step) == names
    assert names_in(f" {names} , ,") == [name for name in names.split(", ") if name]
