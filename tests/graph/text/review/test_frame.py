"""The frame of a review: the same blocks as Markdown, and as plain text of any width."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.plain_text.columns import columns
from planner_executor.graph.plain_text.markdown import fenced
from planner_executor.graph.text.review.frame import (
    Data,
    Prose,
    more,
    name,
    plain_description,
    redrawn,
    sentences,
    to_blocks,
    to_markdown,
    to_text,
    widened,
    words,
)

BLOCKS = [
    Prose("Why it is asked."),
    Prose("- a failed: `no`"),
    Prose("- b failed: `no`"),
    Data(("- a: send", "    to: `````")),
    Data(("● a", "● b"), "plan"),
    Prose("Digest: 0"),
]


def test_a_description_is_read_back_as_its_blocks() -> None:
    assert list(to_blocks(to_markdown(BLOCKS))) == BLOCKS


def test_the_items_of_a_list_stand_together_and_all_else_apart() -> None:
    lines = to_markdown(BLOCKS).split("\n")

    assert lines[:6] == ["Why it is asked.", "", "- a failed: `no`", "- b failed: `no`", "", "``````text"]
    assert lines[8:11] == ["``````", "", "```plan"]


def test_plain_text_has_no_fences() -> None:
    assert to_text(BLOCKS[3:]).split("\n") == ["- a: send", "    to: `````", "", "● a", "● b", "", "Digest: 0"]


def test_data_are_laid_out_for_another_width_and_the_drawing_is_not() -> None:
    blocks = [Prose("Why."), Data(("- a: one two", "     three")), Data(("● a", "     b"), "plan")]

    assert list(widened(blocks, 80)) == [blocks[0], Data(("- a: one two three",)), blocks[2]]
    assert list(widened(blocks[1:2], 80)) == blocks[1:2]


def test_a_description_of_an_earlier_version_is_read_too() -> None:
    assert plain_description(fenced("Revision 1.\n\n● a\n\nDigest: 0")) == "Revision 1.\n\n● a\n\nDigest: 0"


def test_the_plan_alone_is_redrawn() -> None:
    assert list(redrawn(BLOCKS, "○ a\n○ b")) == [*BLOCKS[:4], Data(("○ a", "○ b"), "plan"), BLOCKS[5]]


def test_an_item_of_a_list_goes_on_below_its_words() -> None:
    assert to_text([Prose("- one two three four five")], 11).split("\n") == ["- one two", "  three", "  four five"]


@given(st.lists(st.text("ab計é-", min_size=1, max_size=90), min_size=1, max_size=12), st.integers(40, 120))
def test_prose_keeps_to_the_width_and_breaks_between_words(parts: list[str], width: int) -> None:
    text = " ".join(["We", *parts])

    for item in ("", "- "):
        lines = to_text([Prose(item + text)], width).split("\n")
        assert all(columns(line) <= width for line in lines)
        whole = [part for line in lines for part in line.removeprefix("- ").split() if "…" not in part]
        assert set(whole) <= {"We", *parts}


@pytest.mark.parametrize(
    ("count", "told"),
    [
        (6, ["0", "1", "2", "3", "4", "5"]),
        (7, ["0", "1", "2", "3", "- ... and 1 more step here", "5", "6"]),
        (9, ["0", "1", "2", "3", "- ... and 3 more steps here", "7", "8"]),
    ],
)
def test_a_long_list_says_how_much_is_left_out_of_its_middle(count: int, told: list[str]) -> None:
    assert more([str(n) for n in range(count)], 6, "step") == told


def test_names_and_words_of_strangers_are_code() -> None:
    assert name("write_file") == "write_file" and name("_a_") == "`_a_`" and name("www.evil.com") == "`www.evil.com`"
    assert words("two\nlines `x`!") == "``two\\u{a}lines `x`!``"
    assert name("a" * 60) == "a" * 60 and len(name("a" * 61)) == 62
    assert words("a" * 600) == f"`{'a' * 600}`" and len(words("a" * 601)) == 602


def test_sentences_of_the_record_are_items_of_a_list() -> None:
    assert list(sentences(["a failed: <no>"])) == [Prose("- a failed: \\<no\\>")]
