"""Tool `write_file`: a file in the workspace, whole or not at all."""

import json
from collections.abc import Mapping
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import Field

from planner_executor.tools.declaration import ToolArgs, declare
from planner_executor.tools.errors import FileNotWritten
from planner_executor.tools.files.root import Root
from planner_executor.tools.files.writing import write, write_preview

_LARGEST_BYTES = 10_000_000


class WriteFileArgs(ToolArgs):
    """Arguments of `write_file`."""

    path: str = Field(min_length=1, max_length=1000, description="relative path in the workspace")
    content: str | dict[str, Any] | list[Any] | bool | int | float = Field(
        description="text, written as it is; anything else is written as JSON"
    )
    overwrite: bool = Field(default=False, description="whether a file with other content may be replaced")


def write_file(workspace: Root) -> BaseTool:
    """Return the tool over one folder, which is made when it is missing."""

    def put(
        path: str, content: str | dict[str, Any] | list[Any] | bool | float, overwrite: bool = False
    ) -> dict[str, Any]:
        data = _encoded(path, content)
        outcome = write(workspace, path, data, overwrite=overwrite)
        return {"path": path, "bytes": len(data), "outcome": outcome}

    def preview(path: str, content: str | dict[str, Any] | list[Any] | bool | float, overwrite: bool = False) -> str:
        return write_preview(workspace, path, _encoded(path, content), overwrite=overwrite)

    def would_replace(args: Mapping[str, Any]) -> str | None:
        path = args.get("path")
        is_there = args.get("overwrite") is True and isinstance(path, str) and workspace.has(path)
        return f"{path} is there and would be replaced" if is_there else None

    setattr(put, "would_replace", would_replace)  # noqa: B010  (a function has no such attribute for type checkers)
    return StructuredTool.from_function(
        func=put,
        name="write_file",
        description=(
            "Write a file into the workspace, as UTF-8; missing folders are made. "
            "The result is {path, bytes, outcome}, outcome one of created, replaced, unchanged."
        ),
        args_schema=WriteFileArgs,
        metadata=declare(
            "write",
            idempotent=True,
            timeout_s=30,
            trusted=True,
            free_args=("content",),
            folder=workspace.path,
            reversible=False,
            preview=preview,
        ),
    )


def _encoded(path: str, content: Any) -> bytes:
    try:
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False, indent=2) + "\n"
        data = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise FileNotWritten(path, f"the content cannot be stored as UTF-8 ({error.reason})") from error
    if len(data) > _LARGEST_BYTES:
        raise FileNotWritten(path, f"the content is larger than {_LARGEST_BYTES // 10**6} MB; write it in parts")
    return data
