"""A response of a web server -> the text that a person would read."""

from dataclasses import dataclass

from planner_executor.tools.errors import SourceNotReadable, WorkStopped
from planner_executor.tools.extras import missing_extra
from planner_executor.tools.web.charset import text_of
from planner_executor.tools.web.exchange import WebResponse
from planner_executor.tools.workers.process import Bounds, in_child

EXTRACTION_S = 20

_HTML = {"text/html", "application/xhtml+xml"}
_TEXT = {
    "application/json",
    "application/xml",
    "application/x-ndjson",
    "application/yaml",
    "application/x-yaml",
    "application/toml",
    "application/javascript",
}
_MEMORY_BYTES = 2_000_000_000
_START = 200


@dataclass(frozen=True)
class Page:
    """The text of a page; title and date of publication if it names them."""

    text: str
    title: str | None = None
    published: str | None = None


def read_page(answer: WebResponse, time_s: int = EXTRACTION_S) -> Page:
    """Return the page in a response; blocks until it is read.

    Args:
        answer: What the server sent.
        time_s: How long a process may read HTML.

    Raises:
        SourceNotReadable: It is not text, not whole, holds no words, or takes too long to read.
    """
    url = str(answer.url)
    if answer.fault:
        raise SourceNotReadable(url, answer.fault)
    kind = answer.content_type or _guessed(answer.body)
    if kind not in _HTML | _TEXT and not kind.startswith("text/") and not kind.endswith(("+json", "+xml")):
        raise SourceNotReadable(url, _other_kind(kind))
    text = text_of(answer.body, answer.headers.get("content-type", ""))
    if "\0" in text:
        raise SourceNotReadable(url, f"it is not text, although declared as {kind}")
    page = _main_part(url, text, time_s) if kind in _HTML else Page(text)
    if not page.text.strip():
        raise SourceNotReadable(url, "it holds no words; they may come by a script. Use another source")
    return page


def _guessed(body: bytes) -> str:
    start = body[:_START].lstrip().lower()
    return "text/html" if start.startswith((b"<!doctype html", b"<html")) else "text/plain"


def _other_kind(kind: str) -> str:
    if kind == "application/pdf":
        return "it is a PDF document; look for the same text as a web page"
    return f"it is {kind[:80]}, and only text can be read"


def _main_part(url: str, html: str, time_s: int) -> Page:
    if needed := missing_extra("trafilatura", "web"):
        raise SourceNotReadable(url, f"reading HTML: {needed}")
    try:
        bounds = Bounds(time_s, _MEMORY_BYTES)
        found = in_child("planner_executor.tools.web.extraction:extracted", {"html": html}, bounds)
    except WorkStopped as error:
        raise SourceNotReadable(url, f"{error.reason}; use another source") from error
    return Page((found["text"] or "").strip(), found["title"], found["published"])
