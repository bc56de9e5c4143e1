"""A plan as a person edited it in its form, or as text: what is left alone stays as it is."""

from types import SimpleNamespace
from typing import Any

import pytest

from planner_executor.graph.desk.views.plan_form import answer_text, plan_as_text, plan_of_form, plan_of_text
from planner_executor.graph.errors import InputError
from planner_executor.graph.plan.catalog import ToolSpec

TOOLS = {"send": ToolSpec("send", "", {"properties": {"to": {"type": "string"}}})}
SEND = {"id": "a", "objective": " Send\r\n it ", "tool": "send", "args": {"to": "x", "n": 1}}


def edited(step: dict[str, Any], **fields: str) -> dict[str, Any]:
    """Return a step after its form."""
    named = {f"step:{step['id']}:{name.replace('__', ':')}": text for name, text in fields.items()}
    changed: dict[str, Any] = plan_of_form({"steps": [step]}, named, TOOLS)["steps"][0]
    return changed


@pytest.mark.parametrize(
    ("step", "fields", "changes"),
    [
        (SEND, {"objective": "Send\n it"}, {}),
        (SEND, {"objective": "Send"}, {"objective": "Send"}),
        (SEND, {"success_criteria": "short"}, {"success_criteria": "short"}),
        (SEND, {"success_criteria": "None"}, {"success_criteria": "None"}),
        (SEND, {"does": "look"}, {"tool": "look"}),
        ({"id": "g", "gate": "Good?"}, {"question": "Fine?"}, {"gate": "Fine?"}),
        ({"id": "q", "ask": "Which?"}, {"question": "What?"}, {"ask": "What?"}),
        (SEND, {"args/to": "y"}, {"args": {"to": "y", "n": 1}}),
        ({"id": "m", "tools": ["send"], "args": {"to": "x"}}, {"does": "send, look"}, {"tools": ["send", "look"]}),
    ],
)
def test_a_field_changes_what_it_is_about_if_it_says_something_else(
    step: dict[str, Any], fields: dict[str, str], changes: dict[str, Any]
) -> None:
    assert edited(step, **fields) == {**step, **changes}


def test_what_is_emptied_is_left_out() -> None:
    assert "success_criteria" not in edited({**SEND, "success_criteria": "short"}, success_criteria="")
    assert "depends_on" not in edited({**SEND, "depends_on": ["b"]}, depends_on="")


def test_steps_that_one_waits_for_keep_their_order_and_new_ones_come_last() -> None:
    step = {**SEND, "depends_on": ["c", "b", "gone"]}

    assert edited(step, depends_on="e, b", after__b="on", after__c="on", after__d="on")["depends_on"] == [
        *("c", "b", "d", "e")
    ]
    assert edited(SEND, depends_on="", after__b="on")["depends_on"] == ["b"]


def test_arguments_as_a_whole_are_text_of_a_plan() -> None:
    whole = {"id": "a", "tool": "gone", "args": {"n": 1}}

    assert edited(whole, args="n: 2\nto: x")["args"] == {"n": 2, "to": "x"}
    assert "args" not in edited(whole, args="")
    assert edited(whole, args='{\n  "n": 1\n}')["args"] == {"n": 1}
    assert edited({**SEND, "args": {"to": "n: 2"}}, args="n: 2")["args"] == {"n": 2}
    with pytest.raises(InputError, match="line 1"):
        edited(whole, args="{")
    with pytest.raises(InputError, match="line 1"):
        plan_of_text("{")


@pytest.mark.parametrize(
    ("before", "text", "after"),
    [
        (None, "5", "5"),
        (" old ", "old", " old "),
        ("a\u202eb", "", "a\u202eb"),
        ("old", "5", "5"),
        ({"n": 1}, '{"n": 2}', {"n": 2}),
        ("old", "old", "old"),
    ],
)
def test_an_answer_stays_text_or_json_as_it_was(before: Any, text: str, after: Any) -> None:
    plan = {"steps": [], **({"answer": before} if before is not None else {})}

    assert plan_of_form(plan, {"plan-answer": text})["answer"] == after
    assert plan_of_form(plan, {}) == plan


def test_a_new_step_has_the_fields_of_its_kind_and_stands_last() -> None:
    sent = {"question": "Which?", "does": "send", "args/to": "x", "objective": "Ask"}
    fields = {f"new:0:{name}": text for name, text in {"id": "q", **sent}.items()}

    asks = plan_of_form({"steps": [SEND]}, {**fields, "new:0:kind": "ask"}, TOOLS)["steps"]
    calls = plan_of_form({"steps": [SEND]}, {**fields, "step:a:depends_on": "", "step:a:after:new:0": "on"}, TOOLS)[
        "steps"
    ]

    assert asks == [SEND, {"id": "q", "ask": "Which?", "objective": "Ask"}]
    assert calls[1] == {"id": "q", "tool": "send", "args": {"to": "x"}, "objective": "Ask"}
    assert calls[0]["depends_on"] == ["q"]


def test_a_plan_as_text_says_what_became_of_its_steps_once_one_has_a_result() -> None:
    run = SimpleNamespace(id="t.1", revision=1, goal="g", results={}, step_status={"a": "succeeded"})
    shown: Any = SimpleNamespace(run=run)

    assert "succeeded" not in plan_as_text(shown, {"steps": [SEND]})
    run.results = {"a": 1}
    assert "succeeded" in plan_as_text(shown, {"steps": [SEND]})


def test_the_text_of_an_answer_is_shown_as_it_is_and_none_if_it_cannot_be_seen() -> None:
    assert (answer_text(None), answer_text("x"), answer_text({"n": 1})) == ("", "x", '{\n  "n": 1\n}')
    assert answer_text("a\u202eb") is None


@pytest.mark.parametrize("text", ["", "{}", "[]", "words"])
def test_a_text_that_holds_no_plan_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="a plan begins with steps"):
        plan_of_text(text)


def test_a_plan_that_holds_something_else_than_steps_is_edited_as_text() -> None:
    with pytest.raises(InputError, match="edit it as text"):
        plan_of_form({"steps": ["words"]}, {})
