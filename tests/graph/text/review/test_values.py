"""Values in a review: nothing hides in them, be it another value, the end, or what cannot be seen."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from planner_executor.graph.plain_text.columns import columns
from planner_executor.graph.plain_text.sanitize import escaped
from planner_executor.graph.review.content import LARGEST_VALUE, Whole
from planner_executor.graph.review.content import shown as shown_in_review
from planner_executor.graph.text.review.layout import WIDTH, entry, relaid
from planner_executor.graph.text.review.values import (
    MAX_CHARACTERS,
    cut,
    is_whole,
    plain_value,
    shown,
    text_lines,
    told,
    value_lines,
)

LENGTHS = st.dictionaries(st.text("abcdefgh", min_size=1, max_size=8), st.integers(0, 9_000), min_size=1, max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=120),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=12), inner, max_size=3),
    max_leaves=6,
)


@given(LENGTHS)
def test_each_argument_is_named_with_both_its_ends_however_long_the_others_are(lengths: dict[str, int]) -> None:
    args = {name: "x" * length for name, length in lengths.items()}

    text = "".join(line.strip().rstrip("↩") for line in value_lines(args))

    assert len(text) <= MAX_CHARACTERS + 100 * len(args)
    for name, value in args.items():
        assert f'{name}: "{value[:100]}' in text or f'{name}:"{value[:100]}' in text
    assert ("digest" in text) is (sum(map(len, args.values())) + 2 * len(args) > MAX_CHARACTERS)


def test_a_short_value_stands_whole_beside_a_long_one() -> None:
    lines = value_lines({"to": "x" * 90_000, "body": "b " * 700, "cc": "mallory@example.com"})

    text = "\n".join(lines)
    assert text.count("b ") + text.count("b\n") + text.count('b "') >= 700 and '    cc: "mallory@example.com"' in lines
    assert "more characters" in text and len(text) < 2 * MAX_CHARACTERS


def test_what_cannot_be_seen_is_written_out() -> None:
    assert value_lines({"to": "ann\u202emoc.live@", "\u200b": 1}) == [
        '    to: "ann\\u{202e}moc.live@"',
        '    "\\u{200b}": 1',
    ]
    assert shown("ann\\u{202e}") == '"ann\\\\u{202e}"'  # JSON doubles a backslash that was there


def test_the_lines_of_a_text_are_lines_behind_a_margin() -> None:
    lines = value_lines({"text": "one\nDigest: 0\n\x1b[2Jtwo \u2028three\n"})

    assert lines == [
        "    text:", "      | one", "      | Digest: 0", "      | \\u{1b}[2Jtwo \\u{2028}three", "      |",
    ]  # fmt: skip


def test_an_object_that_needs_more_than_a_line_has_a_line_for_each_entry() -> None:
    value = {"name": "x" * 30, "places": ["Oslo", "Bergen"], "why": "it is needed"}

    lines = value_lines({"order": value})

    assert lines[:3] == ["    order:", "      {", f'        "name": "{"x" * 30}",']
    assert json.loads("".join(line.strip() for line in lines[1:])) == value


def test_long_values_that_differ_anywhere_look_different() -> None:
    one, other = "a" * 20_000, "a" * 10_000 + "b" + "a" * 9_999

    assert cut(one, 400) != cut(other, 400) and value_lines({"v": one}) != value_lines({"v": other})
    assert value_lines({"v": f"{one}\n"}) != value_lines({"v": f"{other}\n"})
    assert "... 19600 more characters, digest " in cut(one, 400)


@given(st.dictionaries(st.text(max_size=20), VALUES, max_size=4))
def test_values_keep_to_the_width_and_to_their_margin(values: dict[str, object]) -> None:
    lines = value_lines(values)  # type: ignore[arg-type]

    assert all(columns(line) <= WIDTH and line.startswith("    ") for line in lines)
    assert len("\n".join(lines).splitlines()) == len(lines)


@given(st.text(max_size=400))
def test_a_text_loses_nothing(text: str) -> None:
    lines = text_lines(text)

    assert all(columns(line) <= WIDTH and line[:5].rstrip() in ("", "    |") for line in lines)
    assert [line[6:] for line in relaid(lines, 9_000)] == list(map(shown_line, text.split("\n")))


def shown_line(text: str) -> str:
    return escaped(text).replace("↩", "\\u{21a9}")


@pytest.mark.parametrize(
    ("value", "lines"),
    [
        (["x" * 46], [f'    v: ["{"x" * 46}"]']),
        (["é" * 45, "b" * 5], ["    v:", "      [", f'        "{"é" * 45}",', '        "bbbbb"', "      ]"]),
        (["x" * 40, "y" * 3], [f'    v: ["{"x" * 40}","{"y" * 3}"]']),
        (["x" * 40, "y" * 4], ["    v:", "      [", f'        "{"x" * 40}",', '        "yyyy"', "      ]"]),
        ("x" * 60, ["    v:", f'       "{"x" * 51}↩', f'       {"x" * 9}"']),
    ],
)
def test_a_list_is_laid_out_if_it_needs_more_than_a_line(value: JsonValue, lines: list[str]) -> None:
    assert value_lines({"v": value}) == lines


@pytest.mark.parametrize(("length", "is_laid_out"), [(3996, True), (3997, False)])
def test_a_list_is_laid_out_if_it_is_shown_whole(length: int, is_laid_out: bool) -> None:
    values: dict[str, JsonValue] = {"v": ["x" * length]}

    assert (value_lines(values)[1] == "      [") is is_laid_out is is_whole(values)


def test_a_text_is_cut_at_exactly_so_many_characters() -> None:
    assert cut("x" * 40, 40) == "x" * 40 and " ... 1 more characters, digest " in cut("x" * 41, 40)
    assert value_lines({"v": "x" * 3998}) == entry(f'v: "{"x" * 3998}"', "    ")


def test_what_short_values_leave_is_for_the_long_ones() -> None:
    lines = relaid(value_lines({"a": "x" * 1331, "b": "x" * 1331, "c": "x" * 8998}), 9_000)

    assert "... 7666 more characters, " in lines[2]


def test_of_a_long_text_of_lines_the_middle_is_left_out_and_counted() -> None:
    told = [" ".join(line.split()) for line in relaid(text_lines(f"{'a' * 2_000}{'b' * 100}{'c' * 2_000}"), 9_000)]

    assert told[0] == f"| {'a' * 2_000}" and told[2] == f"| {'c' * 2_000}"
    assert told[1].startswith("... 100 more characters, digest ") and len(told) == 3
    assert len(text_lines("a\n" * 2_000)) == 2_001


def test_of_a_large_value_both_ends_are_told() -> None:
    large = shown_in_review("ab" * LARGEST_VALUE)

    told_of_it = f"... {2 * LARGEST_VALUE + 2} bytes in all, digest b86be5989a60 ..."
    assert told(large, 7) == f'"ab {told_of_it} ab"'
    assert plain_value(large) == told(large, MAX_CHARACTERS) and plain_value(Whole(value=[1])) == [1]
