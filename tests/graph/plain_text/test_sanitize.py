"""What people read holds nothing that they cannot see; what is ordinary text in any script stays as it is."""

import json
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.errors import InputError
from planner_executor.graph.plain_text.sanitize import (
    MOST_MARKS,
    check_texts,
    document,
    escaped,
    is_utf8,
    margined,
    one_line,
    text_fault,
    visible,
    visible_json,
)

ESC = "\x1b"
HIDDEN = (
    *"\x00\x07\x08\t\n\x0b\x0c\r\x1b\x7f\x85\x90\x9b\x9d",  # controls
    *"\u2028\u2029\xa0\u1680\u2000\u2007\u200a\u202f\u205f\u3000",  # breaks and spaces
    *"\xad\u0600\u061c\u070f\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202d\u202e\u2060\u2063\u2066\u2069\u206f\ufeff",
    *"\u034f\u115f\u1160\u17b4\u17b5\u180b\u180f\u2800\u3164\uffa0\ufe00\ufe0f\ufffc\U0001d159",  # blanks
    *"\U000e0001\U000e0041\U000e007f\U000e0100\U000e01ef\U0001bca0\U0001d173",  # tags, variants, invisible signs
    *"\ud800\udfff\ue000\U0010fffd\ufdd0\ufffe\uffff\U0001ffff\u0378\u2065\ufff0",  # halves, private, unassigned
    *"\u1039\u17d2\u1a60\u2d7f\U00010a3f",  # joiners of scripts that are not written here
)
PIECES = st.sampled_from([*HIDDEN, ESC + "[2J", "\r\n", "\\u{", "\\u{200d}", "\\", "e\u0301", "क्षि", "a", " "])
TEXTS = st.lists(PIECES | st.text(max_size=4), max_size=20).map("".join)


@pytest.mark.parametrize("letter", HIDDEN, ids=lambda letter: f"U+{ord(letter):04X}")
def test_what_is_not_one_visible_cell_is_shown_as_an_escape_of_fixed_form(letter: str) -> None:
    told = f"ann\\u{{{ord(letter):x}}}@example.com"

    assert escaped(f"ann{letter}@example.com") == one_line(f"ann{letter}@example.com") == told
    assert visible(f"ann{letter}@example.com") == (told if letter != "\n" else "ann\n@example.com")
    assert json.loads(visible_json([f"ann{letter}@"])) == [f"ann{letter}@"]
    assert letter in "\n" or letter not in visible_json([f"ann{letter}@"])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"{ESC}[31mred{ESC}[0m", "\\u{1b}[31mred\\u{1b}[0m"),
        (f"{ESC}]8;;http://example.org{ESC}\\link", "\\u{1b}]8;;http://example.org\\u{1b}\\link"),
        ("safe\rEVIL", "safe\\u{d}EVIL"),
        ("abc\u202edcba", "abc\\u{202e}dcba"),
        ("half \ud800", "half \\u{d800}"),
        ("ann\\u{200d}@example.com", "ann\\u{5c}u{200d}@example.com"),
        ("C:\\users\\new \\d+ \\u200d", "C:\\users\\new \\d+ \\u200d"),
        ("[bold]markup[/bold] :smile:", "[bold]markup[/bold] :smile:"),
        ("❤\ufe0f 👩\u200d💻", "❤\\u{fe0f} 👩\\u{200d}💻"),
        ("@\u0338 7\u20e3 \u0301x", "@\\u{338} 7\\u{20e3} \\u{301}x"),
        ("a\u1161 a\u11ff a\ud7b0 a\u1200", "a\\u{1161} a\\u{11ff} a\\u{d7b0} a\u1200"),
        ("a" + "\u0301" * 5 + "ä" + "\u0301" * 4, "a" + "\u0301" * 4 + "\\u{301}ä" + "\u0301" * 4),
        ("\u182e\u180b \u1810", "\u182e\\u{180b} \u1810"),
        ("a" + "\u0301" * 6, "a" + "\u0301" * 4 + "\\u{301}\\u{301}"),
    ],
)
def test_what_steers_a_terminal_or_looks_like_an_escape_is_escaped(text: str, told: str) -> None:
    assert escaped(text) == told


@pytest.mark.parametrize(
    "text",
    [
        "Käse, cafe\u0301, Tiê\u0301ng Viê\u0323t, Ελληνικά, Кириллица, ქართული",
        "مرحبا بِسْمِ, שָׁלוֹם, ދިވެހި, ܐܠܗܐ",
        "नमस्ते, বাংলা, ગુજરાતી, ਪੰਜਾਬੀ, தமிழ், తెలుగు, ಕನ್ನಡ, മലയാളം, සිංහල",
        "สวัสดี, ພາສາລາວ, ကြွှောင့်, ភាសាខ្មែរ, བསྒྲུབས, ᠮᠣᠩᠭᠣᠯ, ꦧꦱꦗꦮ, ᜊᜌ᜔ᜊᜌᜒᜈ᜔, አማርኛ",
        "計画、か\u3099、한국어 \u1112\u1161\u11ab, ｶﾞ, 👍🏽 ✅ 🇩🇪 — “quotes” … ½ €",
        "plain ~!@#$%^&*()_+{}|:\"<>?`-=[]\\;',./",
    ],
)
def test_ordinary_text_of_all_scripts_stays_as_it_is(text: str) -> None:
    assert escaped(text) == document(text) == visible(text) == text


@given(TEXTS)
def test_nothing_is_left_that_an_eye_cannot_see(text: str) -> None:
    for shown in (escaped(text), visible(text), document(text)):
        marks = 0
        for before, letter in zip(" " + shown, shown, strict=False):
            category = unicodedata.category(letter)
            assert letter in " \n" or category[0] not in "CZ", ascii(letter)
            assert letter == "\n" or letter not in HIDDEN or (category == "Mn" and ord(before) > 0xFF)
            marks = marks + 1 if category in ("Mn", "Me") else 0 if category != "Mc" else marks
            assert marks <= MOST_MARKS


@given(TEXTS)
def test_a_line_is_one_line_and_stands_for_one_text_only(text: str) -> None:
    line = escaped(text)

    assert "\n" not in line
    assert re.sub(r"\\u\{([0-9a-f]+)\}", lambda found: chr(int(found[1], 16)), line) == text


@given(TEXTS)
def test_the_last_step_before_a_screen_may_be_repeated(text: str) -> None:
    assert visible(visible(text)) == visible(text)
    assert visible(escaped(text)) == escaped(text) and visible(document(text)) == document(text)


def test_a_line_is_cut_if_it_is_longer_and_a_margin_stands_before_several_alone() -> None:
    assert (one_line("abc", 3), one_line("abcd", 3), one_line("abcd")) == ("abc", "ab…", "abcd")
    assert document("\ta") == "    a" and visible_json({"a": "hä e\u0301"}) == '{\n  "a": "hä e\u0301"\n}'
    assert (margined("a"), margined("a\n\nb")) == ("a", "| a\n|\n| b")


def test_half_a_pair_and_nul_cannot_be_kept() -> None:
    assert [is_utf8(text) for text in ("a", "naïve", "\ud800")] == [True, True, False]
    assert text_fault("naïve") is None and "surrogate" in str(text_fault("\ud800")) and "NUL" in str(text_fault("a\0"))
    check_texts("goal", "naïve", "")
    with pytest.raises(InputError) as refused:
        check_texts("goal", "naïve", "a\0")
    assert refused.value.field == "goal"


@given(TEXTS, st.integers(1, 80))
def test_a_line_is_no_longer_than_asked(text: str, most: int) -> None:
    assert len(one_line(text, most)) <= most


@given(TEXTS)
def test_each_of_several_lines_from_outside_begins_with_the_margin(text: str) -> None:
    lines = margined(text).split("\n")

    assert len(lines) == text.count("\n") + 1
    assert len(lines) == 1 or all(line.startswith("|") for line in lines)


@given(TEXTS, TEXTS)
def test_json_to_edit_is_the_same_value_with_nothing_hidden(key: str, item: str) -> None:
    value = {key: [item, {"x": None}]}

    text = visible_json(value)

    assert json.loads(text) == value or "\\ud" in text  # two halves that meet are one character to JSON
    assert visible(text) == text
