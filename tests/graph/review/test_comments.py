"""Reading comments on steps."""

from typing import Any

import pytest

from planner_executor.graph.record.comment import Comment
from planner_executor.graph.review.comments import read_comments, split_comments, step_ids


def test_comments_are_read_with_their_steps() -> None:
    assert (
        read_comments([{"step": "a", "text": " x "}], ["a"]) == (Comment("a", "x"),) and read_comments(None, []) == ()
    )


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ("x", "must be a list"),
        (5, "must be a list"),
        (["x"], "must be a list"),
        ([["step", "text"]], "must be a list"),
        ([{"step": "a"}], "must be a list"),
        ([{"step": "a", "text": 1}], "must be a list"),
        ([{"step": "a", "text": "x", "more": 1}], "must be a list"),
        ([{"step": "b", "text": "x"}], "no step 'b'; use one of a"),
        ([{"step": ["b"], "text": "x"}], "no step"),
        ([{"step": "a", "text": " "}], "is empty"),
    ],
)
def test_a_comment_that_is_none_says_what_is_wrong(raw: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read_comments(raw, ["a"])


def test_a_comment_on_a_plan_without_steps_is_refused() -> None:
    with pytest.raises(ValueError, match="it has none"):
        read_comments([{"step": "a", "text": "x"}], [])


def test_a_message_without_comments_stays_as_it_is() -> None:
    assert split_comments(" two\nlines ") == (" two\nlines ", [])


def test_lines_of_a_message_that_are_comments_are_taken_out() -> None:
    message, comments = split_comments("comment a: only last year\n\nand shorter\n")

    assert (message, comments) == ("and shorter", [{"step": "a", "text": "only last year"}])


def test_steps_of_a_plan_that_cannot_run_are_found_as_far_as_they_have_ids() -> None:
    assert step_ids({"steps": [{"id": "a"}, {"id": 1}, "b"]}) == ["a"]
    assert step_ids({"steps": "x"}) == step_ids([]) == step_ids(None) == []
