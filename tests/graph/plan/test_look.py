"""Looks that a planner asks for in place of a plan."""

from typing import Any

import pytest

from planner_executor.graph.plan.look import Look, ParsedLook, read_or_look
from planner_executor.graph.plan.reading import ParsedPlan

PLAN = ParsedPlan(None)
CALL = {"tool": "list", "args": {"folder": "a"}}


def read(raw: Any, marked: tuple[str, ...] = ("list", "head")) -> ParsedPlan:
    return read_or_look(raw, ("list", "head", "pay"), marked, lambda _: PLAN)


@pytest.mark.parametrize(
    "raw",
    [{"look": [CALL]}, {"look": CALL}, {"steps": [], "look": [CALL]}, {"steps": None, "answer": None, "look": [CALL]}],
)
def test_calls_of_marked_tools_are_a_look(raw: Any) -> None:
    found = read(raw)

    assert isinstance(found, ParsedLook) and found.looks == (Look("list", {"folder": "a"}),)


def test_an_answer_without_a_look_is_read_as_a_plan() -> None:
    assert read({"steps": []}) is PLAN and read([]) is PLAN and read("look") is PLAN


@pytest.mark.parametrize("bare", [{"tool": "list"}, {"tool": "list", "args": None}])
def test_a_call_without_arguments_has_none(bare: Any) -> None:
    found = read({"look": bare})

    assert isinstance(found, ParsedLook) and found.looks == (Look("list", {}),)


@pytest.mark.parametrize(
    ("raw", "field", "words"),
    [
        ({"look": [CALL], "answer": "x"}, "look", "it stands beside answer"),
        ({"look": []}, "look", "it is empty"),
        ({"look": [{"tool": "pay"}]}, "look[0]", "'pay' may not look; head, list may"),
        ({"look": [CALL, "list"]}, "look[1]", "a call is"),
        ({"look": [["tool", "args"]]}, "look[0]", "a call is"),
        ({"look": [{**CALL, "why": "x"}]}, "look[0]", "a call is"),
        ({"look": [{"tool": "list", "args": [1]}]}, "look[0]", "args must be an object"),
        ({"look": [{"tool": "list", "args": {"n": 2**70}}]}, "look[0]", "args must be an object"),
    ],
)
def test_a_look_that_is_none_says_what_is_wrong(raw: Any, field: str, words: str) -> None:
    (issue,) = read(raw).issues

    assert issue.field == field and words in issue.message


def test_without_a_mark_a_plan_is_asked_for() -> None:
    (issue,) = read({"look": [CALL]}, marked=()).issues

    assert "no tool may look before the plan" in issue.message
