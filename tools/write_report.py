"""Tool `write_report`: a Markdown file in the workspace."""

from pathlib import Path
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import Field

from tools.confinement import inside
from tools.declaration import ToolArgs, declare
from tools.errors import PathRefused, ReportNotWritten
from tools.report.atomic_write import write_atomically
from tools.report.rendering import render

_SUFFIXES = {".md", ".markdown", ".txt"}


class WriteReportArgs(ToolArgs):
    """Arguments of `write_report`."""

    content: str | dict[str, Any] | list[Any] | int | float = Field(
        description="Markdown text, or the result of summarize_text, which becomes a brief with citations"
    )
    path: str = Field(default="report.md", description="relative path in the workspace, ending in .md or .txt")
    title: str | None = Field(default=None, description="heading of the report")


def write_report(workspace: Path) -> BaseTool:
    """Return the tool that writes into one folder, which is made when it is missing."""
    workspace = workspace.absolute()

    def write(
        content: str | dict[str, Any] | list[Any] | float, path: str = "report.md", title: str | None = None
    ) -> dict[str, Any]:
        file = _target(workspace, path)
        report = render(content, title)
        data = _encoded(report.markdown, path)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(file, data)
        except OSError as error:
            raise ReportNotWritten(path, error.strerror or str(error)) from error
        return {"path": _shown(file), "bytes": len(data), "statements": report.statements}

    return StructuredTool.from_function(
        func=write,
        name="write_report",
        description=(
            "Write a Markdown report into the workspace folder, replacing the one that is there. Given the result of "
            "summarize_text it writes a brief: each statement with its citation, then the sources. "
            "The result is {path, bytes, statements}."
        ),
        args_schema=WriteReportArgs,
        metadata=declare("write", idempotent=True, timeout_s=30, trusted=True, free_args=("content",)),
    )


def _target(workspace: Path, path: str) -> Path:
    file = inside(workspace, path)
    if file.suffix.lower() not in _SUFFIXES:
        raise PathRefused(path, workspace, "does not end in .md, .markdown or .txt")
    if file.is_dir():
        raise PathRefused(path, workspace, "is a folder")
    return file


def _encoded(markdown: str, path: str) -> bytes:
    if not markdown.strip():
        raise ReportNotWritten(path, "the content is empty")
    try:
        return markdown.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ReportNotWritten(path, f"the content cannot be stored as UTF-8 ({error.reason})") from error


def _shown(file: Path) -> str:
    """Return the path relative to the current folder where it lies inside it."""
    here = Path.cwd().resolve()
    return file.relative_to(here).as_posix() if file.is_relative_to(here) else str(file)
