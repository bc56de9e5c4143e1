"""Tool `search_files`: lines of the workspace's text files that contain a text."""

from collections.abc import Iterator
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import Field

from planner_executor.tools.declaration import ToolArgs, declare
from planner_executor.tools.errors import FileNotReadable, NoSuchFile, PathRefused
from planner_executor.tools.files.root import Found, Root
from planner_executor.tools.read_file import LARGEST_BYTES, read_text

_MOST_BYTES = 100_000_000
_LONGEST_LINE = 500
_SKIPPED_NAMED = 20


class SearchFilesArgs(ToolArgs):
    """Arguments of `search_files`."""

    text: str = Field(min_length=1, max_length=500, description="what a line must hold, word for word, in any case")
    pattern: str = Field(default="**", min_length=1, max_length=500, description="which files, such as 'notes/*.md'")
    limit: int = Field(default=50, ge=1, le=1000, description="how many lines at most")


def search_files(workspace: Root) -> BaseTool:
    """Return the tool over one folder."""

    def search(text: str, pattern: str = "**", limit: int = 50) -> dict[str, Any]:
        matches: list[dict[str, Any]] = []
        skipped: list[dict[str, str]] = []
        searched, left = 0, _MOST_BYTES
        for found in workspace.files(pattern):
            left -= min(found.size, LARGEST_BYTES)
            try:
                lines = _lines(workspace, found, left)
            except (FileNotReadable, NoSuchFile, PathRefused) as error:
                skipped.append({"path": found.path, "reason": getattr(error, "reason", "it is gone")})
                continue
            searched += 1
            matches.extend(_matches(found.path, lines, text.casefold(), limit + 1 - len(matches)))
            if len(matches) > limit:
                break
        return {
            "matches": matches[:limit],
            "searched": searched,
            "skipped": skipped[:_SKIPPED_NAMED],
            "skipped_count": len(skipped),
            "cut": len(matches) > limit,
        }

    return StructuredTool.from_function(
        func=search,
        name="search_files",
        description=(
            "Find lines in the text files of the workspace. The result is {matches: [{path, line, text}], searched, "
            "skipped: [{path, reason}], skipped_count, cut}; cut is true if there are more."
        ),
        args_schema=SearchFilesArgs,
        metadata=declare(
            "read", idempotent=True, timeout_s=60, trusted=False, free_args=("text", "pattern"), reads=(workspace.path,)
        ),
    )


def _lines(workspace: Root, found: Found, left: int) -> list[str]:
    if left < 0:
        raise FileNotReadable(found.path, f"not searched: more than {_MOST_BYTES // 10**6} MB in all; name a pattern")
    return read_text(workspace, found.path).lines()


def _matches(path: str, lines: list[str], wanted: str, most: int) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(lines, 1):
        place = line.casefold().find(wanted)
        if place < 0:
            continue
        if (most := most - 1) < 0:
            return
        yield {"path": path, "line": number, "text": _around(line, place)}


def _around(line: str, place: int) -> str:
    """Return the line; of a long one the part around the words, with an ellipsis at each cut."""
    if len(line) <= _LONGEST_LINE:
        return line
    start = max(0, place - _LONGEST_LINE // 4)
    part = line[start : start + _LONGEST_LINE]
    return f"{'…' if start else ''}{part}{'…' if start + _LONGEST_LINE < len(line) else ''}"
