import httpx
import pytest

from planner_executor.tools.errors import SourceNotReadable
from planner_executor.tools.web.exchange import WebResponse
from planner_executor.tools.web.readable import Page, read_page

SENTENCE = "Offshore wind costs more to build than wind on land, and it blows more often. "
ARTICLE = f"""<!DOCTYPE html><html><head><title>Wind power</title><meta name="date" content="2024-05-01"></head><body>
<nav><a href="/">Home</a> <a href="/about">About us</a></nav>
<article><h1>Wind power</h1><p>{SENTENCE * 3}</p><h2>Costs</h2><p>{SENTENCE * 3}</p>
<table><tr><th>Year</th><th>Cost</th></tr><tr><td>2020</td><td>40</td></tr></table></article>
<footer>All rights reserved</footer><script>alert("no")</script></body></html>"""


def answer(body: bytes | str, content_type: str | None = "text/html", fault: str | None = None) -> WebResponse:
    content = body.encode() if isinstance(body, str) else body
    headers = httpx.Headers({"content-type": content_type} if content_type is not None else {})
    return WebResponse(httpx.URL("https://page.example/"), 200, headers, content, fault)


def test_of_a_page_the_main_part_is_read_with_title_and_date() -> None:
    page = read_page(answer(ARTICLE))

    assert (page.title, page.published) == ("Wind power", "2024-05-01")
    assert SENTENCE.strip() in page.text
    assert "## Costs" in page.text
    assert "| 2020 | 40 |" in page.text
    assert not any(words in page.text for words in ("About us", "alert"))


def test_a_page_without_a_main_part_is_read_all_the_same() -> None:
    assert "Hello there" in read_page(answer("<html><body><div>Hello there</div></body></html>")).text


@pytest.mark.parametrize(
    "content_type",
    [
        "text/plain",
        "application/json",
        "application/ld+json; charset=utf-8",
        "text/csv",
        "application/rss+xml",
        None,
        "",
    ],
)
def test_other_text_is_read_as_it_is(content_type: str | None) -> None:
    assert read_page(answer('{"a": "ü"}', content_type)) == Page('{"a": "ü"}')


def test_html_without_a_type_is_known_by_its_start() -> None:
    assert read_page(answer(f"\n {ARTICLE}", None)).title == "Wind power"


@pytest.mark.parametrize(
    ("body", "content_type", "reason"),
    [
        (b"%PDF-1.7", "application/pdf", "it is a PDF document"),
        (b"\x89PNG", "image/png", "it is image/png, and only text can be read"),
        (b"PK", "application/octet-stream", "only text can be read"),
        (b"\x00\x01\x02", "text/plain", "it is not text, although declared as text/plain"),
        (b"", "text/plain", "it holds no words"),
        (b"<html><body><script>go()</script></body></html>", "text/html", "it holds no words"),
        (b"", "text/html", "it holds no words"),
    ],
)
def test_a_binary_file_is_an_error(body: bytes, content_type: str, reason: str) -> None:
    with pytest.raises(SourceNotReadable) as failure:
        read_page(answer(body, content_type))

    assert reason in failure.value.reason


def test_a_page_that_did_not_come_in_whole_is_not_read() -> None:
    with pytest.raises(SourceNotReadable) as failure:
        read_page(answer("words", "text/plain", fault="it is larger than 5 bytes"))

    assert failure.value.reason == "it is larger than 5 bytes"


@pytest.mark.slow
def test_a_page_made_to_be_read_for_minutes_is_left_in_time() -> None:
    attributes = " ".join(f"a{number}=b" for number in range(100_000))

    with pytest.raises(SourceNotReadable) as failure:
        read_page(answer(f"<html><body><p {attributes}>words</p></body></html>"), time_s=1)

    assert "longer than 1 s" in failure.value.reason
