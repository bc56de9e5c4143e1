import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.tools.web.charset import text_of

WORDS = "Grüße, “naïve” €"


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (WORDS.encode(), "text/html"),
        (WORDS.encode(), "text/html; charset=utf-8"),
        (WORDS.encode("cp1252"), "text/html"),
        (WORDS.encode("cp1252"), "text/html; charset=windows-1252"),
        (WORDS.encode("cp1252"), 'text/html; Charset="ISO-8859-1"'),
        (codecs.BOM_UTF8 + WORDS.encode(), "text/html; charset=latin-1"),
        (codecs.BOM_UTF16_LE + WORDS.encode("utf-16-le"), "text/html"),
        (codecs.BOM_UTF16_BE + WORDS.encode("utf-16-be"), "text/html; charset=utf-8"),
        (WORDS.encode(), "text/html; charset=nonsense"),
        (WORDS.encode(), "text/html; charset=punycode"),
        (WORDS.encode(), "text/html; charset=zlib_codec"),
        (WORDS.encode(), "text/html; charset=unicode_escape"),
    ],
)
def test_the_same_words_come_out(body: bytes, content_type: str) -> None:
    assert text_of(body, content_type) == WORDS


@pytest.mark.parametrize("name", ["shift_jis", "euc-jp", "gb18030", "gbk", "big5", "euc-kr", "koi8-r", "iso-8859-7"])
def test_a_page_may_name_its_character_set(name: str) -> None:
    words = {"koi8-r": "слово", "iso-8859-7": "λόγος", "euc-kr": "한국어"}.get(name, "日本")
    page = f'<html><head><meta charset="{name}"></head><body>{words}</body></html>'

    assert words in text_of(page.encode(name), "text/html")


@given(st.binary(max_size=200), st.text(max_size=30).map(lambda name: f"text/html; charset={name}"))
def test_any_bytes_become_text_that_can_be_stored(body: bytes, content_type: str) -> None:
    text_of(body, content_type).encode("utf-8")
