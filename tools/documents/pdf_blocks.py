"""PDF -> passages, each on one page. Needs the extra `documents`."""

from collections.abc import Iterator
from pathlib import Path

from planner_executor.tools.documents.passages import Passage, cut_long
from planner_executor.tools.errors import SourceNotReadable, WorkStopped
from planner_executor.tools.extras import missing_extra
from planner_executor.tools.workers.fault import Fault
from planner_executor.tools.workers.process import Bounds, in_child

PDF_BOUNDS = Bounds(time_s=20, memory_bytes=1_000_000_000)
"""What the reading of one file may take: a small one may ask for work without end."""

_ENOUGH_FOR_A_PASSAGE = 500


def pdf_pages(source: str, file: Path, bounds: Bounds = PDF_BOUNDS) -> tuple[str | None, list[str]]:
    """Return the title, or None, and the text of each page; a process of its own reads them.

    Raises:
        SourceNotReadable: It is broken or locked, takes too long, or `pypdf` is not installed.
    """
    if needed := missing_extra("pypdf", "documents"):
        raise SourceNotReadable(source, f"a PDF cannot be read: {needed}")
    try:
        with file.open("rb") as stream:
            handle = stream.fileno()
            read = in_child("planner_executor.tools.documents.pdf_text:pages", {"handle": handle}, bounds, (handle,))
    except Fault as fault:
        raise SourceNotReadable(source, fault.reason) from fault
    except WorkStopped as stopped:
        raise SourceNotReadable(source, f"its reading was stopped: {stopped.reason}") from stopped
    except OSError as error:
        raise SourceNotReadable(source, error.strerror or type(error).__name__) from error
    return read["title"], read["pages"]


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
