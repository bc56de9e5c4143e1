"""Tool `write_report`: a Markdown file in the workspace."""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import Field

from planner_executor.tools.declaration import ToolArgs, declare
from planner_executor.tools.errors import FileNotWritten, PathRefused
from planner_executor.tools.files.root import Root
from planner_executor.tools.files.writing import write, write_preview, written
from planner_executor.tools.report.own_files import OwnFiles
from planner_executor.tools.report.rendering import render

_SUFFIXES = {".md", ".markdown", ".txt"}


class WriteReportArgs(ToolArgs):
    """Arguments of `write_report`."""

    content: str | dict[str, Any] | list[Any] | int | float = Field(
        description="Markdown text, or the result of summarize_text, which becomes a brief with citations"
    )
    path: str = Field(default="report.md", description="relative path in the workspace, ending in .md or .txt")
    title: str | None = Field(default=None, description="heading of the report")
    overwrite: bool = Field(
        default=False, description="whether a file may be replaced that this tool did not write, or that was edited"
    )


def write_report(workspace: Path) -> BaseTool:
    """Return the tool that writes into one folder, which is made when it is missing."""
    root = Root(workspace, "workspace")
    own = OwnFiles(root)

    def put(
        content: str | dict[str, Any] | list[Any] | float,
        path: str = "report.md",
        title: str | None = None,
        overwrite: bool = False,
    ) -> dict[str, Any]:
        _check_suffix(root, path)
        report = render(content, title)
        data = _encoded(report.markdown, path)
        with written(path):
            may_replace = overwrite or own.has(path)
            # A person's file with this very content is not noted, or a later report would replace it unasked.
            if may_replace or not root.has(path):
                own.note(path, data)
            write(root, path, data, overwrite=may_replace)
        return {"path": _shown(root.path / path), "bytes": len(data), "statements": report.statements}

    def preview(
        content: str | dict[str, Any] | list[Any] | float,
        path: str = "report.md",
        title: str | None = None,
        overwrite: bool = False,
    ) -> str:
        _check_suffix(root, path)
        data = _encoded(render(content, title).markdown, path)
        return write_preview(root, path, data, overwrite=overwrite or own.has(path))

    def would_replace(args: Mapping[str, Any]) -> str | None:
        path = args.get("path", "report.md")
        if not isinstance(path, str) or not root.has(path):
            return None
        if args.get("overwrite") is True or own.has(path):
            return f"{path} is there and would be replaced"
        return (
            f"{path} is there and was not written by this tool, so the step would fail; pass overwrite or another path"
        )

    setattr(put, "would_replace", would_replace)  # noqa: B010  (a function has no such attribute for type checkers)
    return StructuredTool.from_function(
        func=put,
        name="write_report",
        description=(
            "Write a Markdown report into the workspace folder, in the place of one that it wrote before. Given the "
            "result of summarize_text it writes a brief: each statement with its citation, then the sources. "
            "The result is {path, bytes, statements}."
        ),
        args_schema=WriteReportArgs,
        metadata=declare(
            "write",
            idempotent=True,
            timeout_s=30,
            trusted=True,
            free_args=("content",),
            folder=root.path,
            reversible=False,
            preview=preview,
        ),
    )


def _check_suffix(root: Root, path: str) -> None:
    if PurePosixPath(path).suffix.lower() not in _SUFFIXES:
        raise PathRefused(path, root.path, "does not end in .md, .markdown or .txt")


def _encoded(markdown: str, path: str) -> bytes:
    if not markdown.strip():
        raise FileNotWritten(path, "the content is empty")
    try:
        return markdown.encode("utf-8")
    except UnicodeEncodeError as error:
        raise FileNotWritten(path, f"the content cannot be stored as UTF-8 ({error.reason})") from error


def _shown(file: Path) -> str:
    """Return the path, relative to the current folder if it is inside."""
    here, file = Path.cwd().resolve(), file.resolve()
    return file.relative_to(here).as_posix() if file.is_relative_to(here) else str(file)
