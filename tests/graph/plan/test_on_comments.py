"""What a planner says of comments: words for commented steps alone, and never a part of the plan."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from planner_executor.graph.plan.json_schema import plan_schema
from planner_executor.graph.plan.on_comments import WORDS_CHARACTERS, read_on_comments, with_on_comments
from planner_executor.graph.plan.reading import ParsedPlan, read_plan

PLAN = {"steps": [{"id": "a", "objective": "think", "tools": []}]}


def read(raw: Any, *commented: str) -> ParsedPlan:
    return read_on_comments(raw, (), commented, lambda plan: read_plan(plan, {}))


@given(
    st.recursive(st.none() | st.booleans() | st.text(), lambda some: st.lists(some) | st.dictionaries(st.text(), some))
)
def test_whatever_is_said_the_plan_is_the_same(said: Any) -> None:
    parsed = read({**PLAN, "on_comments": said}, "a", "b")

    assert parsed.plan == read(PLAN).plan is not None
    assert set(parsed.on_comments) <= {"a", "b"}


@pytest.mark.parametrize(
    ("said", "kept", "noted"),
    [
        ({"a": " one\n two "}, {"a": "one two"}, False),
        ({"a": "done", "z": "x"}, {"a": "done"}, True),
        ({"a": ["done"]}, {}, True),
        ({"a": " "}, {}, True),
        ("done", {}, True),
        ({}, {}, False),
    ],
)
def test_what_is_no_text_for_a_commented_step_is_left_out_with_a_note(said: Any, kept: Any, *, noted: bool) -> None:
    parsed = read({**PLAN, "on_comments": said}, "a")

    assert parsed.on_comments == kept
    assert bool(parsed.notes) is noted


def test_words_are_bounded() -> None:
    assert len(read({**PLAN, "on_comments": {"a": "x" * 9_999}}, "a").on_comments["a"]) == WORDS_CHARACTERS == 300


def test_words_may_stand_beside_a_wrapped_plan() -> None:
    for raw in ({"plan": PLAN, "on_comments": {"a": "done"}}, {"plan": {**PLAN, "on_comments": {"a": "done"}}}):
        assert read(raw, "a").on_comments == {"a": "done"}


def test_words_that_are_no_plan_are_none_about_comments() -> None:
    assert read("on_comments", "a").issues and not read("on_comments", "a").on_comments


def test_without_comments_the_key_is_a_fault() -> None:
    assert [issue.field for issue in read({**PLAN, "on_comments": {}}).issues] == ["on_comments"]


def test_a_server_allows_the_key_for_commented_steps_alone() -> None:
    asked, other = (Draft202012Validator(with_on_comments(plan_schema(()), steps)) for steps in (["a"], []))

    assert asked.is_valid(PLAN) and asked.is_valid({**PLAN, "on_comments": {"a": "done"}})
    assert not asked.is_valid({**PLAN, "on_comments": {"b": "done"}})
    assert not other.is_valid({**PLAN, "on_comments": {"a": "done"}})
