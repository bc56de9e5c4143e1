"""Lines of data: broken so that nothing is lost, and no part of a text looks like a line of ours."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from planner_executor.graph.plain_text.columns import columns
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.review.plan_changes import changes_between
from planner_executor.graph.text.review.changes import change_blocks
from planner_executor.graph.text.review.frame import Data
from planner_executor.graph.text.review.layout import WIDTH, broken, entry, fitted_line, relaid
from planner_executor.graph.text.review.values import value_lines

WORDS = st.text("ab /計.↩|-", max_size=200)
VALUES = st.recursive(
    st.integers() | st.text("ab\n ↩|{-", max_size=150),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(WORDS, st.integers(10, 60))
def test_what_is_broken_is_whole(text: str, room: int) -> None:
    lines = broken(text, room)

    assert all(columns(line) <= room for line in lines)
    whole = "".join(lines).replace("↩", "").replace(" ", "").replace("\\u{21a9}", "↩")
    assert whole == text.replace(" ", "")


def test_a_line_that_goes_on_is_further_in_than_any_line_of_ours() -> None:
    assert entry(" ".join(["word"] * 14)) == ["- " + " ".join(["word"] * 11), "     word word word"]
    assert entry(" ".join(["word"] * 11), "      | ") == ["      | " + " ".join(["word"] * 10), "         word"]


@given(st.dictionaries(st.text("ab", min_size=1, max_size=3), VALUES, max_size=4), st.integers(60, 110))
def test_lines_are_put_together_again_for_any_width(values: dict[str, JsonValue], width: int) -> None:
    lines = (*entry("a: send"), *value_lines(values))

    wide = relaid(lines, width)

    assert all(columns(line) <= width for line in wide) and len(wide) <= len(lines)
    assert relaid(wide, WIDTH) == lines


def test_no_part_of_a_former_value_looks_like_the_value_now() -> None:
    forged = "x" * 40 + " now not given " * 9
    before, after = (Plan.model_validate({"steps": [{"id": "a", "objective": one}]}) for one in (forged, "y"))

    *_, data = change_blocks(changes_between(before, after), 1)

    assert isinstance(data, Data)
    assert [line for line in data.lines if line.startswith("      now ")] == ['      now "y"']


@pytest.mark.parametrize(
    ("text", "room", "lines"),
    [
        ("abcd", 4, ["abcd"]),
        ("abcdefgh", 5, ["abcd↩", "efgh"]),
        ("abcdefgh", 1, ["a↩", "b↩", "c↩", "d↩", "e↩", "f↩", "g↩", "h"]),
        ("abc/efgh", 6, ["abc/↩", "efgh"]),
        ("/bcdefgh", 6, ["/bcde↩", "fgh"]),
        ("ab/defgh", 6, ["ab/↩", "defgh"]),
        ("ab/defghi", 8, ["ab/defg↩", "hi"]),
        ("計画計画", 6, ["計画↩", "計画"]),
    ],
)
def test_a_long_word_is_broken_after_a_mark_in_its_second_half(text: str, room: int, lines: list[str]) -> None:
    assert broken(text, room) == lines


@pytest.mark.parametrize(
    ("line", "width", "under", "lines"),
    [
        ("  | find out who", 16, None, ["  | find out who"]),
        ("  | find out who called and why", 31, None, ["  | find out who called and why"]),
        ("  | find out who called and why now", 31, None, ["  | find out who called and", "     why now"]),
        ("  | find out who called and why", 10, None, ["  | find out who called", "     and why"]),
        ("goal    find out who called and why", 10, 8, ["goal    find out who called", "        and why"]),
    ],
)
def test_a_line_that_fits_stays_and_others_have_some_room(
    line: str, width: int, under: int | None, lines: list[str]
) -> None:
    assert fitted_line(line, width, under) == lines
    assert entry("x" * 25, "- ", 10) == ["- xxxxxxxxxxxxxxxxxxx↩", "     xxxxxx"]


def test_a_line_of_spaces_goes_on_if_it_is_as_long_as_those_before_a_line_that_does() -> None:
    assert relaid(entry("x" * 55 + " "), 80) == (f"- {'x' * 55} ",)
    assert relaid(("- a", "    "), 60) == ("- a", "")


def test_a_word_that_was_broken_is_put_together() -> None:
    lines = entry("x" * 56)

    assert lines == [f"- {'x' * 54}↩", "     xx"] and relaid(lines, 80) == (f"- {'x' * 56}",)
