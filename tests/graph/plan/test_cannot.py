"""Answers that say that something cannot be done."""

from typing import Any

import pytest

from planner_executor.graph.plan.cannot import WORDS_CHARACTERS, admits_cannot, read_or_cannot, words_of
from planner_executor.graph.plan.reading import ParsedPlan

PLAN = ParsedPlan(None)


def read(raw: Any) -> ParsedPlan:
    return read_or_cannot(raw, (), lambda _: PLAN)


@pytest.mark.parametrize(
    "raw",
    [{"steps": [], "cannot": " no key "}, {"cannot": "no key"}, {"steps": [], "answer": None, "cannot": "no key"}],
)
def test_the_words_stand_in_place_of_a_plan(raw: Any) -> None:
    assert read(raw).cannot == "no key" and not read(raw).issues


def test_an_answer_without_the_key_is_read_as_a_plan() -> None:
    assert read({"steps": []}) is PLAN and read("x") is PLAN and read("I cannot") is PLAN


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ({"cannot": "x", "steps": [{"id": "a"}]}, "it stands beside steps"),
        ({"cannot": "x", "answer": "y"}, "it stands beside answer"),
        ({"cannot": " "}, "it must be text"),
        ({"cannot": {"why": "x"}}, "it must be text"),
    ],
)
def test_a_cannot_that_is_none_says_what_is_wrong(raw: Any, words: str) -> None:
    (issue,) = read(raw).issues

    assert words in issue.message


def test_words_are_bounded() -> None:
    assert len(words_of("x" * 5_000) or "") == WORDS_CHARACTERS == 1_000 and words_of(3) is None


@pytest.mark.parametrize(
    ("output", "admits"),
    [
        (None, False),
        ("json", False),
        ({"type": "object"}, True),
        ({"type": "object", "properties": {"cannot": {"type": "integer"}}}, True),
        ({"type": "object", "additionalProperties": False}, False),
        ({"type": "object", "properties": {"n": {}}, "additionalProperties": False}, False),
        ({"type": "array"}, False),
    ],
)
def test_a_schema_admits_the_key_or_not(output: Any, admits: bool) -> None:
    assert admits_cannot(output) is admits
