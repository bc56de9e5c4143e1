"""Tool `read_source`: the lines of a source file around one line."""

from pathlib import Path
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import Field

from planner_executor.tools.declaration import ToolArgs, declare
from planner_executor.tools.errors import SourceNotReadable
from planner_executor.tools.folder import Folder
from planner_executor.tools.numbers_in_words import counted

_SUFFIXES = (
    ".py", ".pyi", ".js", ".mjs", ".ts", ".tsx", ".jsx", ".go", ".java", ".kt", ".rb", ".rs", ".php", ".pl", ".scala",
    ".c", ".h", ".cc", ".cpp", ".hpp", ".cs", ".swift", ".ex", ".lua", ".sh", ".sql", ".toml", ".yaml", ".yml", ".cfg",
    ".ini", ".conf",
)  # fmt: skip
_LARGEST_BYTES = 2_000_000
_LONGEST_LINE = 500


class ReadSourceArgs(ToolArgs):
    """Arguments of `read_source`."""

    path: str = Field(min_length=1, max_length=500, description="relative path of a source file")
    line: int = Field(default=1, ge=1, description="the line that matters")
    around: int = Field(default=8, ge=0, le=200, description="how many lines before and after it")


def read_source(folder: Folder) -> BaseTool:
    """Return the tool over one folder."""

    def read(path: str, line: int = 1, around: int = 8) -> dict[str, Any]:
        lines = _lines(path, folder.file(path))
        if line > len(lines):
            raise SourceNotReadable(path, f"it has {counted(len(lines), 'line')}, none at {line}")
        first, last = max(1, line - around), min(len(lines), line + around)
        return {
            "source": path,
            "line": line,
            "statement": lines[line - 1].strip(),
            "first_line": first,
            "end_line": last,
            "total_lines": len(lines),
            "numbered": "\n".join(_numbered(lines, number, line) for number in range(first, last + 1)),
        }

    return StructuredTool.from_function(
        func=read,
        name="read_source",
        description=(
            "Read the lines of a source file around one line. The result is {source, line, statement, first_line, "
            "end_line, total_lines, numbered}: statement is the line itself, numbered all of them with their numbers."
        ),
        args_schema=ReadSourceArgs,
        metadata=declare("read", idempotent=True, timeout_s=30, trusted=False, free_args=("path", "line")),
    )


def _lines(path: str, file: Path | None) -> list[str]:
    if not path.lower().endswith(_SUFFIXES):
        raise SourceNotReadable(path, f"not one of {', '.join(_SUFFIXES)}")
    if file is None:
        raise SourceNotReadable(path, "there is no such file")
    try:
        with file.open("rb") as stream:
            content = stream.read(_LARGEST_BYTES + 1)
    except OSError as error:
        raise SourceNotReadable(path, error.strerror or type(error).__name__) from error
    if len(content) > _LARGEST_BYTES or b"\0" in content:
        raise SourceNotReadable(path, f"larger than {_LARGEST_BYTES // 10**6} MB, or no text")
    lines = content.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return [line[:_LONGEST_LINE] for line in (lines if lines[-1] else lines[:-1])]


def _numbered(lines: list[str], number: int, marked: int) -> str:
    return f"{'>' if number == marked else ' '} {number:>{len(str(len(lines)))}}  {lines[number - 1]}".rstrip()
