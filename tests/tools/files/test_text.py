import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.tools.files.text import Decoded, decode


@pytest.mark.parametrize(
    ("content", "text", "encoding"),
    [
        (b"", "", "utf-8"),
        ("naïve €".encode(), "naïve €", "utf-8"),
        (codecs.BOM_UTF8 + b"a", "a", "utf-8"),
        ("naïve €".encode("windows-1252"), "naïve €", "windows-1252"),
        (codecs.BOM_UTF16_LE + "aé😀".encode("utf-16-le"), "aé😀", "utf-16-le"),
        (codecs.BOM_UTF16_BE + "aé😀".encode("utf-16-be"), "aé😀", "utf-16-be"),
        (codecs.BOM_UTF32_LE + "aé😀".encode("utf-32-le"), "aé😀", "utf-32-le"),
        (b"\x81", "\ufffd", "windows-1252"),
    ],
)
def test_the_encoding_is_recognised_by_the_bytes(content: bytes, text: str, encoding: str) -> None:
    assert decode(content) == Decoded(text, encoding)


@pytest.mark.parametrize("content", [b"\x7fELF\0\0", b"%PDF\0", b"a\0"])
def test_bytes_that_are_not_text_are_none(content: bytes) -> None:
    assert decode(content) is None


@given(st.binary(max_size=200))
def test_whatever_is_decoded_can_be_stored_as_json(content: bytes) -> None:
    decoded = decode(content)

    if decoded is not None:
        decoded.text.encode("utf-8")
        assert "\0" not in decoded.text


@pytest.mark.parametrize(
    ("text", "lines"),
    [("", []), ("a", ["a"]), ("a\n", ["a"]), ("a\r\nb\rc\n\n", ["a", "b", "c", ""]), ("a\u2028b", ["a\u2028b"])],
)
def test_lines_are_counted_as_editors_count_them(text: str, lines: list[str]) -> None:
    assert Decoded(text, "utf-8").lines() == lines
