"""PDF -> passages, each on one page. Needs the extra `documents`."""

import io
import logging
from collections.abc import Iterator

from tools.documents.passages import Passage, cut_long
from tools.errors import DocumentNotReadable

logging.getLogger("pypdf").addHandler(logging.NullHandler())  # what is wrong with a file is said in our error

_ENOUGH_FOR_A_PASSAGE = 500
_LONGEST_TITLE = 120


def pdf_pages(source: str, content: bytes) -> tuple[str | None, list[str]]:
    """Return the title, or None, and the text of each page.

    Raises:
        DocumentNotReadable: It is broken or locked, or `pypdf` is not installed.
    """
    try:
        from pypdf import PdfReader
        from pypdf.errors import PyPdfError
    except ImportError as error:
        reason = "reading PDF needs: pip install 'planner-executor[documents]'"
        raise DocumentNotReadable(source, reason) from error
    try:
        reader = PdfReader(io.BytesIO(content))
        pages = [_clean(page.extract_text()) for page in reader.pages]
        title = reader.metadata.title if reader.metadata else None
    except (PyPdfError, OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        said = " ".join(str(error).split()) or type(error).__name__
        raise DocumentNotReadable(source, f"broken or locked PDF ({said})") from error
    return (str(title).strip()[:_LONGEST_TITLE] or None) if title else None, pages


def pdf_blocks(source: str, pages: list[str]) -> Iterator[Passage]:
    """Yield passages of some lines each; a PDF knows neither paragraphs nor lists."""
    for number, page in enumerate(pages, 1):
        held: list[str] = []
        for line in page.split("\n"):
            if line.strip():
                held.append(line.strip())
            ended = not line.strip() or (line.rstrip().endswith((".", "!", "?", ":")) and _size(held) > 200)
            if held and (ended or _size(held) > _ENOUGH_FOR_A_PASSAGE):
                yield from cut_long(Passage(source, "\n".join(held), "paragraph", None, number))
                held = []
        if held:
            yield from cut_long(Passage(source, "\n".join(held), "paragraph", None, number))


def _size(lines: list[str]) -> int:
    return sum(map(len, lines))


def _clean(text: str) -> str:
    """Drop what JSON or a ledger could not hold: NUL and halves of surrogate pairs."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8").replace("\r", "\n")
