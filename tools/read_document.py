"""Tool `read_document`: the text of one document, or a part of it."""

from typing import Any

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import Field

from planner_executor.tools.declaration import ToolArgs, declare
from planner_executor.tools.documents.library import Library
from planner_executor.tools.documents.loading import KINDS, read_lines
from planner_executor.tools.documents.pdf_blocks import pdf_pages
from planner_executor.tools.errors import SourceNotReadable
from planner_executor.tools.numbers_in_words import counted

_LONGEST_LINE = 4000


class ReadDocumentArgs(ToolArgs):
    """Arguments of `read_document`."""

    path: str = Field(min_length=1, description="the document's source, as list_documents and search_documents give it")
    start_line: int = Field(default=1, ge=1, description="first line; for a PDF, the page")
    max_lines: int = Field(default=200, ge=1, le=2000, description="how many lines at most")
    number_lines: bool = Field(default=False, description="begin each line of text with its number: `12: text`")


def read_document(library: Library) -> BaseTool:
    """Return the tool over one folder of documents."""

    def read(path: str, start_line: int = 1, max_lines: int = 200, number_lines: bool = False) -> dict[str, Any]:
        file = library.file(path)
        source = file.relative_to(library.folder.resolve()).as_posix()
        if KINDS[file.suffix.lower()] == "pdf":
            return _page(source, pdf_pages(source, file)[1], start_line, max_lines, number_lines)
        return _lines(source, read_lines(source, file), start_line, max_lines, number_lines)

    return StructuredTool.from_function(
        func=read,
        name="read_document",
        description=(
            "Read a local document, or of a PDF one page. The result is {source, line, end_line, total_lines, "
            "next_line, text}, for a PDF {source, page, total_pages, next_page, text}; next is null at the end. "
            "Line i of text stands on line + i of the file."
        ),
        args_schema=ReadDocumentArgs,
        metadata=declare(
            "read", idempotent=True, timeout_s=60, trusted=False, free_args=("path",), reads=(library.folder,)
        ),
    )


def _lines(source: str, lines: list[str], start: int, most: int, numbered: bool) -> dict[str, Any]:
    if start > max(len(lines), 1):
        raise SourceNotReadable(source, f"it has {counted(len(lines), 'line')}, none at {start}")
    end = min(start + most - 1, len(lines))
    return {
        "source": source,
        "line": start,
        "end_line": end,
        "total_lines": len(lines),
        "next_line": end + 1 if end < len(lines) else None,
        "text": _shown(lines[start - 1 : end], start if numbered else None),
    }


def _page(source: str, pages: list[str], number: int, most: int, numbered: bool) -> dict[str, Any]:
    if number > len(pages):
        raise SourceNotReadable(source, f"it has {counted(len(pages), 'page')}, none at {number}")
    return {
        "source": source,
        "page": number,
        "total_pages": len(pages),
        "next_page": number + 1 if number < len(pages) else None,
        "text": _shown(pages[number - 1].split("\n")[:most], 1 if numbered else None),
    }


def _shown(lines: list[str], first: int | None) -> str:
    """Return the lines, very long ones cut, as one text; with the number of the `first` one, each with its number."""
    cut = [line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}…" for line in lines]
    return "\n".join(cut if first is None else [f"{number}: {line}" for number, line in enumerate(cut, first)])
