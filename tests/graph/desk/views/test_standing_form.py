"""The form of a standing approval: which bounds it gives, and what it has to say."""

from typing import Any

import pytest

from planner_executor.graph.desk.views.standing_form import ahead_wish, standing_wish
from planner_executor.graph.errors import InputError


@pytest.mark.parametrize(
    ("bound", "text", "constraint"),
    [
        ("any", "", {}),
        ("maximum", "5", {"maximum": 5}),
        ("minimum", "0.5", {"minimum": 0.5}),
        ("one_of", "ann, 4 , ,true", {"one_of": ["ann", 4, True]}),
        ("domains", "a.example, 4", {"domains": ["a.example", "4"]}),
        ("within", "reports", {"within": ["reports"]}),
        ("pattern", "12", {"pattern": "12"}),
    ],
)
def test_a_bound_is_read_as_what_it_bounds(bound: str, text: str, constraint: Any) -> None:
    assert standing_wish({"at_most": "3", "bound:to": bound, "value:to": text}) == {
        "at_most": 3,
        "args": {"to": constraint},
    }
    assert ahead_wish({"bound:to": bound, "value:to": text}) == {"params": {"to": constraint}}


def test_what_is_left_empty_is_no_part_of_a_wish() -> None:
    assert standing_wish({"at_most": "3", "until": "", "bound:to": "", "value:to": "x"}) == {"at_most": 3}
    assert ahead_wish({"at_most": "", "bound:to": ""}) == {}
    assert ahead_wish({"at_most": "2", "until": "2026-12-01"}) == {"at_most": 2, "until": "2026-12-01T23:59:59Z"}


@pytest.mark.parametrize(
    ("fields", "field", "words"),
    [
        ({"until": "tomorrow"}, "until", "'tomorrow' is no day"),
        ({"bound:to": "maximum", "value:to": ""}, "to", "say what it may be: a number up to"),
        ({"bound:to": "maximum"}, "to", "say what it may be: a number up to"),
        ({"bound:to": "highest", "value:to": "5"}, "to", "say what it may be: a bound"),
    ],
)
def test_a_bound_without_a_value_and_a_day_that_is_none_are_refused(
    fields: dict[str, str], field: str, words: str
) -> None:
    for wish in (standing_wish, ahead_wish):
        with pytest.raises(InputError, match=words) as refused:
            wish({"at_most": "3", **fields})
        assert refused.value.field == field
