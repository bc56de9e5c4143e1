import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.terminal import harmless, one_line

ESC = "\x1b"
TRICKS = st.sampled_from(
    [ESC, "\x9b", "\x9d", f"{ESC}]", f"{ESC}[", f"{ESC}\\", "\x07", "31m", "\u202e", "\u200b", "\r"]
)
TEXTS = st.lists(TRICKS | st.text(), max_size=30).map("".join)


@pytest.mark.parametrize(
    ("given", "left"),
    [
        (f"{ESC}[31mred{ESC}[0m", "red"),
        (f"{ESC}[2J{ESC}[Hcleared", "cleared"),
        (f"{ESC}]0;title\x07text", "text"),
        (f"{ESC}]8;;http://example.org{ESC}\\link{ESC}]8;;{ESC}\\", "link"),
        ("\x9b31mred", "red"),
        (f"{ESC}]0;never ended", "0;never ended"),
        (f"{ESC}P1$r{ESC}\\after", "after"),
        (f"{ESC}c reset", " reset"),
        ("safe\rEVIL", "safeEVIL"),
        ("one\r\ntwo\u2028three", "one\ntwo\nthree"),
        ("abc\u202edcba", "abcdcba"),
        ("in\u200bvisible\ufeff", "invisible"),
        ("tag\U000e0041s", "tags"),
        ("half \ud800", "half \ufffd"),
        ("bell\x07 and back\x08space", "bell and backspace"),
        ("[bold]markup[/bold] :smile: stays", "[bold]markup[/bold] :smile: stays"),
        ("Käse 計画 ✓\tand\nlines", "Käse 計画 ✓\tand\nlines"),
    ],
)
def test_what_steers_a_terminal_is_taken_out_and_the_rest_stays(given: str, left: str) -> None:
    assert harmless(given) == left


@given(TEXTS)
def test_nothing_is_left_that_a_terminal_obeys_or_an_eye_cannot_see(text: str) -> None:
    for letter in harmless(text):
        assert letter in "\n\t" or unicodedata.category(letter) not in ("Cc", "Cs", "Zl", "Zp")
        assert unicodedata.bidirectional(letter) not in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
        assert letter not in "\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\u061c"


@given(TEXTS)
def test_what_is_harmless_stays_as_it_is(text: str) -> None:
    assert harmless(harmless(text)) == harmless(text)


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126) | st.sampled_from("\n\täß漢字")))
def test_ordinary_text_is_not_touched(text: str) -> None:
    assert harmless(text) == text


@given(TEXTS, st.integers(1, 80))
def test_a_line_is_one_line_and_no_longer_than_asked(text: str, most: int) -> None:
    line = one_line(text, most)

    assert len(line) <= most
    assert not {"\n", "\t"} & set(line)
