"""Standing approvals as a page shows them."""

from types import SimpleNamespace
from typing import Any

import pytest

from planner_executor.graph.desk.views.standing import bound_in_words, standing_row


@pytest.mark.parametrize(
    ("constraint", "words"),
    [
        ({"one_of": ["ann"]}, "ann"),
        ({"one_of": ["ann", 4]}, "one of ann or 4"),
        ({"domains": ["a.example"]}, "at a.example"),
        ({"minimum": 1, "odd": "x"}, "1 or more, odd x"),
        ({}, "anything"),
    ],
)
def test_a_bound_is_told_in_words(constraint: dict[str, Any], words: str) -> None:
    assert bound_in_words(constraint) == words


@pytest.mark.parametrize(
    ("revoked_by", "left", "holds", "state"),
    [(None, 2, True, "holds"), (None, 2, False, "over"), (None, 0, False, "used up"), ("ada", 0, False, "revoked")],
)
def test_it_holds_until_it_is_used_up_over_or_revoked(revoked_by: Any, left: int, holds: bool, state: str) -> None:
    approval = SimpleNamespace(args={"to": {"one_of": ["ann"]}})
    use: Any = SimpleNamespace(approval=approval, revoked_by=revoked_by, left=left, holds=lambda now: holds)

    row = standing_row(use, 5.0)

    assert (row.bounds, row.state) == ([("to", "ann")], state)
