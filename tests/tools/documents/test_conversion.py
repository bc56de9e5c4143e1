"""The converters in this process; `test_convert_document.py` has them in their child process."""

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from planner_executor.tools.documents.conversion import MOST_BYTES
from planner_executor.tools.documents.conversion import convert as convert_open
from planner_executor.tools.workers.fault import Fault

Convert = Callable[..., dict[str, Any]]


@pytest.fixture
def convert(tmp_path: Path) -> Convert:
    """Write a file and convert it; its handle is closed by the conversion."""

    def call(kind: str, content: bytes, start: int = 0, most: int = 1_000) -> dict[str, Any]:
        file = tmp_path / f"a{kind}"
        file.write_bytes(content)
        with warnings.catch_warnings(action="ignore"):
            return convert_open(_handle(file), kind, start, most)

    return call


def _handle(file: Path) -> int:
    return os.open(file, os.O_RDONLY)


def test_a_pdf_and_a_page_are_converted_too(convert: Convert, pdf: Callable[..., bytes]) -> None:
    page = "<html><head><title>Köln</title></head><body><script>x()</script><h1>Höhe</h1></body></html>"

    assert "First words about wind." in convert(".pdf", pdf("First words about wind.", "More"))["text"]
    html = convert(".html", page.encode("windows-1252"))
    assert (html["title"], html["text"]) == ("Köln", "# Höhe")


def test_a_part_has_the_start_of_the_next_one(convert: Convert) -> None:
    part = convert(".html", b"<p>0123456789</p>", start=2, most=3)

    assert (part["text"], part["next_start"], part["total"]) == ("234", 5, 10)
    assert convert(".html", b"<p>0123456789</p>", start=5, most=5)["next_start"] is None


def test_a_part_past_the_end_is_a_fault(convert: Convert) -> None:
    with pytest.raises(Fault) as fault:
        convert(".html", b"<p>words</p>", start=5)

    assert fault.value.reason == "it has 5 characters, none at 5"


@pytest.mark.parametrize(
    ("kind", "content", "reason"),
    [
        (".docx", b"", "damaged"),
        (".pdf", b"%PDF-1.4 no", "damaged"),
        (".epub", b"PK\3\4", "damaged"),
        (".ipynb", b"{", "damaged"),
        (".html", b"\0\1", "not text"),
        (".html", b"<html></html>", "no text in it"),
    ],
)
def test_a_damaged_or_empty_file_is_a_fault(convert: Convert, kind: str, content: bytes, reason: str) -> None:
    with pytest.raises(Fault) as fault:
        convert(kind, content)

    assert reason in fault.value.reason


def test_a_file_over_the_limit_is_a_fault_before_it_is_converted(tmp_path: Path) -> None:
    file = tmp_path / "a.html"
    with file.open("wb") as stream:
        stream.truncate(MOST_BYTES + 1)

    with pytest.raises(Fault) as fault:
        convert_open(_handle(file), ".html", 0, 10)

    assert "larger than 30 MB" in fault.value.reason
