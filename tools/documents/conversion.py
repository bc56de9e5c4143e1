"""A document -> Markdown, by one converter of markitdown. Runs in a child process. Needs the extra `office`.

The converter is chosen by the file's name and called by itself: no guessing, no plugins, and none of the converters
that fetch pages, ask a model or start another program.
"""

import io
import warnings
from typing import Any

from planner_executor.tools.files.text import decode
from planner_executor.tools.numbers_in_words import counted
from planner_executor.tools.workers.content import bytes_of
from planner_executor.tools.workers.fault import Fault

CONVERTERS = {
    ".pdf": "PdfConverter",
    ".docx": "DocxConverter",
    ".pptx": "PptxConverter",
    ".xlsx": "XlsxConverter",
    ".html": "HtmlConverter",
    ".htm": "HtmlConverter",
    ".epub": "EpubConverter",
    ".ipynb": "IpynbConverter",
}
MOST_BYTES = 30_000_000


def convert(handle: int, kind: str, start: int, most: int) -> dict[str, Any]:
    """Return `{title, text, start, next_start, total}`, counted in characters.

    Args:
        handle: The open file.
        kind: The end of its name, one of `CONVERTERS`.
        start: The first character that is wanted.
        most: How many characters at most.

    Raises:
        Fault: It is damaged or locked, too large, or empty from there on.
    """
    title, text = _converted(bytes_of(handle, MOST_BYTES), kind)
    if not text.strip():
        raise Fault("there is no text in it; it may hold pictures of pages only")
    if start >= len(text):
        raise Fault(f"it has {counted(len(text), 'character')}, none at {start}")
    end = min(start + most, len(text))
    return {
        "title": title,
        "start": start,
        "next_start": end if end < len(text) else None,
        "total": len(text),
        "text": text[start:end],
    }


def _converted(content: bytes, kind: str) -> tuple[str | None, str]:
    from markitdown import MissingDependencyException, StreamInfo, converters

    warnings.simplefilter("ignore")
    converter = getattr(converters, CONVERTERS[kind])()
    try:
        made = converter.convert(io.BytesIO(_as_utf8(content, kind)), StreamInfo(extension=kind, charset="utf-8"))
    except MissingDependencyException as error:
        raise Fault(f"reading {kind} needs: pip install 'markitdown[{kind[1:]}]'") from error
    except Exception as error:
        if _comes_of_memory(error):
            raise MemoryError from error
        said = " ".join(str(error).split())[:300] or type(error).__name__
        raise Fault(f"it is damaged, locked or not a {kind} file ({said})") from error
    title = " ".join(str(made.title).split())[:200] if made.title else None
    return title, made.markdown.replace("\0", "\ufffd")


def _comes_of_memory(error: BaseException | None) -> bool:
    """Whether an error is a `MemoryError` or arose while handling one: libraries fail in many ways then."""
    while error is not None and not isinstance(error, MemoryError):
        error = error.__context__
    return error is not None


def _as_utf8(content: bytes, kind: str) -> bytes:
    """Return pages in the encoding that is passed to the converter, and anything else unchanged."""
    if kind not in (".html", ".htm"):
        return content
    decoded = decode(content)
    if decoded is None:
        raise Fault("it is not text")
    return decoded.text.encode("utf-8", "replace")
