"""The content of a request as data: its published schema, and what it says of every kind of request."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from planner_executor.graph.record.values import to_text
from planner_executor.graph.review.content import (
    LARGEST_VALUE,
    PeopleContent,
    PlanContent,
    Preview,
    ReviewContent,
    StepContent,
    Tool,
    Whole,
    review_schema,
    shown,
)

ROOT = Path(__file__).parents[3]
SCHEMA = ROOT / "schemas" / "review.json"
REQUESTS = sorted((ROOT / "tests" / "data" / "reviews").glob("*/studio.json"))


@pytest.mark.parametrize("file", REQUESTS, ids=lambda file: file.parent.name)
def test_every_request_fits_the_schema_with_one_entry_for_each_action(file: Path) -> None:
    request = json.loads(file.read_text())
    validator = Draft202012Validator(json.loads(SCHEMA.read_text()))

    assert [error.message for error in validator.iter_errors(request["review"])] == []
    content, actions = request["review"]["actions"], request["action_requests"]
    assert [one["name"] for one in content] == [one["name"] for one in actions]
    assert [one["decisions"] for one in content] == [one["allowed_decisions"] for one in request["review_configs"]]
    assert ReviewContent.model_validate(request["review"]).to_json() == request["review"]  # so it is kept as text


def test_an_unknown_field_is_none_of_the_schema() -> None:
    content = {"version": 1, "goal": "g", "actions": [], "more": 1}

    assert not Draft202012Validator(review_schema()).is_valid(content)


@pytest.mark.parametrize("size", [LARGEST_VALUE, LARGEST_VALUE + 1])
def test_a_large_value_is_told_by_length_digest_and_beginning(size: int) -> None:
    value: Any = "x" * (size - 2)

    found = shown(value)

    assert found == Whole(value=value) if size == LARGEST_VALUE else isinstance(found, Preview)
    assert isinstance(found, Whole) or (
        found.length == size and len(found.digest) == 64 and found.preview[1:9] == "x" * 8
    )


def test_a_number_that_not_every_client_reads_is_shown_as_text_with_an_end_only_if_it_is_large() -> None:
    wide = 2**70
    beside = LARGEST_VALUE - len(to_text(["", wide]))

    ends = [found.end for text in ("", "x" * beside, "x" * (beside + 1))
            if isinstance(found := shown([text, wide]), Preview)]  # fmt: skip

    assert [len(end) for end in ends] == [0, 0, 200]


def test_a_content_leaves_out_what_is_as_usual() -> None:
    content = PlanContent(name="run_plan", revision=1, digest="d", steps=tuple(
        StepContent(id=status, status=status, done_by="tool") for status in ("pending", "succeeded", "skipped")
    ))  # fmt: skip

    assert [step.id for step in content.left] == ["pending"] and not content.cannot_run
    assert ReviewContent(version=1, goal="g", actions=()).to_json() == {"version": 1, "goal": "g", "actions": []}
    assert [Tool(name="t", effect=effect).acts for effect in ("read", "write")] == [False, True]
    assert not PeopleContent().takes_two
