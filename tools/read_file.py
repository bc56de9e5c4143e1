"""Tool `read_file`: the text of a file in the workspace, or a part of it."""

from typing import Any

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import Field

from planner_executor.tools.declaration import ToolArgs, declare
from planner_executor.tools.errors import FileNotReadable
from planner_executor.tools.files.root import Root
from planner_executor.tools.files.text import Decoded, decode
from planner_executor.tools.numbers_in_words import counted

LARGEST_BYTES = 10_000_000
_MOST_CHARACTERS = 200_000


class ReadFileArgs(ToolArgs):
    """Arguments of `read_file`."""

    path: str = Field(min_length=1, max_length=1000, description="relative path in the workspace")
    start_line: int = Field(default=1, ge=1, description="first line")
    max_lines: int = Field(default=1000, ge=1, le=10_000, description="how many lines at most")


def read_file(workspace: Root) -> BaseTool:
    """Return the tool over one folder."""

    def read(path: str, start_line: int = 1, max_lines: int = 1000) -> dict[str, Any]:
        decoded = read_text(workspace, path)
        lines = decoded.lines()
        if start_line > max(len(lines), 1):
            raise FileNotReadable(path, f"it has {counted(len(lines), 'line')}, none at {start_line}")
        text, count = _joined(lines[start_line - 1 : start_line - 1 + max_lines])
        end = start_line - 1 + count
        return {
            "path": path,
            "encoding": decoded.encoding,
            "line": start_line,
            "end_line": end,
            "total_lines": len(lines),
            "next_line": end + 1 if end < len(lines) else None,
            "cut": end < len(lines) or len(text) > _MOST_CHARACTERS,
            "text": text[:_MOST_CHARACTERS],
        }

    return StructuredTool.from_function(
        func=read,
        name="read_file",
        description=(
            "Read a text file of the workspace. The result is {path, encoding, line, end_line, total_lines, next_line, "
            "cut, text}; next_line is null at the end, cut is true if text is not all of the file's rest."
        ),
        args_schema=ReadFileArgs,
        metadata=declare(
            "read",
            idempotent=True,
            timeout_s=30,
            trusted=False,
            free_args=("path", "start_line"),
            reads=(workspace.path,),
        ),
    )


def read_text(root: Root, path: str) -> Decoded:
    """Return the text of a file.

    Raises:
        PathRefused, NoSuchFile: As `Root.open`.
        FileNotReadable: It cannot be opened, is too large or is not text.
    """
    with root.open(path) as stream:
        content = stream.read(LARGEST_BYTES + 1)
    if len(content) > LARGEST_BYTES:
        raise FileNotReadable(path, f"larger than {LARGEST_BYTES // 10**6} MB; search_files or query_csv may read it")
    decoded = decode(content)
    if decoded is None:
        raise FileNotReadable(path, "it is not text; convert_document reads PDF and office files")
    return decoded


def _joined(lines: list[str]) -> tuple[str, int]:
    """Return lines up to the bound of characters, and how many they are; the first one counts however long it is."""
    size = 0
    for count, line in enumerate(lines):
        size += len(line) + 1
        if size > _MOST_CHARACTERS and count:
            return "\n".join(lines[:count]), count
    return "\n".join(lines), len(lines)
