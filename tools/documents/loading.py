"""A file -> its lines or pages, and the document made of them."""

from pathlib import Path

from planner_executor.tools.documents.html_blocks import html_blocks
from planner_executor.tools.documents.passages import Document, Kind, Passage
from planner_executor.tools.documents.pdf_blocks import PDF_BOUNDS, pdf_blocks, pdf_pages
from planner_executor.tools.documents.text_blocks import text_blocks
from planner_executor.tools.errors import SourceNotReadable
from planner_executor.tools.files.text import decode
from planner_executor.tools.workers.process import Bounds

KINDS: dict[str, Kind] = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".txt": "text",
    ".rst": "text",
    ".html": "html",
    ".htm": "html",
    ".pdf": "pdf",
}
ACCEPTED = tuple(KINDS)

_LONGEST_TITLE = 120


def load(source: str, file: Path, pdf_bounds: Bounds = PDF_BOUNDS) -> Document:
    """Read one file into passages.

    Raises:
        SourceNotReadable: It cannot be opened, does not match its suffix, holds no text, or takes too long.
    """
    document = _document(source, file, pdf_bounds)
    if not document.passages:
        raise SourceNotReadable(source, "there is no text in it")
    return document


def _document(source: str, file: Path, pdf_bounds: Bounds) -> Document:
    kind = KINDS[file.suffix.lower()]
    if kind == "pdf":
        title, pages = pdf_pages(source, file, pdf_bounds)
        passages = tuple(pdf_blocks(source, pages))
        return Document(source, kind, title or _first_words(passages, source), len(pages), passages)
    lines = _lines(source, _content(source, file))
    if kind == "html":
        title, blocks = html_blocks(source, "\n".join(lines))
        passages = tuple(blocks)
        return Document(source, kind, title or _heading(passages, source), len(lines), passages)
    passages = tuple(text_blocks(source, lines, markup=kind == "markdown"))
    return Document(source, kind, _heading(passages, source), len(lines), passages)


def read_lines(source: str, file: Path) -> list[str]:
    """Return the lines of a file that is not a PDF; for HTML the words that stand on each line of the source."""
    lines = _lines(source, _content(source, file))
    if KINDS[file.suffix.lower()] != "html":
        return lines
    seen = [""] * len(lines)
    for passage in html_blocks(source, "\n".join(lines))[1]:
        for number, words in enumerate(passage.text.split("\n"), passage.line or 1):
            seen[number - 1] = f"{seen[number - 1]} {words}".strip()
    return seen


def _content(source: str, file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise SourceNotReadable(source, error.strerror or type(error).__name__) from error


def _lines(source: str, content: bytes) -> list[str]:
    """Return lines as Python and editors count them, so that a line number means the same everywhere."""
    decoded = decode(content)
    if decoded is None:
        raise SourceNotReadable(source, "not a text file: it holds NUL bytes")
    return decoded.lines()


def _heading(passages: tuple[Passage, ...], source: str) -> str:
    for passage in passages:
        if passage.headings:
            return passage.headings[0]
        if passage.block == "heading":
            return " ".join(passage.text.split())
    return _first_words(passages, source)


def _first_words(passages: tuple[Passage, ...], source: str) -> str:
    words = passages[0].text.split("\n")[0].strip() if passages else ""
    return words[:_LONGEST_TITLE] or source
