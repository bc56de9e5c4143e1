"""The description of a request is made of the value that goes with it, and of nothing else."""

import json
from pathlib import Path
from typing import Any

import pytest

from planner_executor.graph.review.content import ReviewContent
from planner_executor.graph.text.review.description import description
from planner_executor.graph.text.review.people import people_paragraph

REQUESTS = sorted((Path(__file__).parents[3] / "data" / "reviews").glob("*/studio.json"))


@pytest.mark.parametrize("file", REQUESTS, ids=lambda file: file.parent.name)
def test_a_client_can_make_the_words_of_a_request_from_its_value(file: Path) -> None:
    request: Any = json.loads(file.read_text("utf-8"))
    review = ReviewContent.model_validate(request["review"])

    for content, action in zip(review.actions, request["action_requests"], strict=True):
        assert description(content, action["args"], review.goal) in action["description"]
    assert people_paragraph(review.people, review.reason_for) in request["action_requests"][0]["description"]
