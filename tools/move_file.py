"""Tool `move_file`: another path for a file in the workspace."""

from functools import partial
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import Field

from planner_executor.tools.declaration import ToolArgs, declare
from planner_executor.tools.files.root import Root
from planner_executor.tools.files.writing import move, move_preview


class MoveFileArgs(ToolArgs):
    """Arguments of `move_file`."""

    path: str = Field(min_length=1, max_length=1000, description="relative path of the file in the workspace")
    to: str = Field(min_length=1, max_length=1000, description="its new relative path; nothing may be there")


def move_file(workspace: Root) -> BaseTool:
    """Return the tool over one folder.

    A second call finds nothing to move and fails, so it is not declared idempotent.
    """

    def carry(path: str, to: str) -> dict[str, Any]:
        move(workspace, path, to)
        return {"path": to, "moved_from": path}

    return StructuredTool.from_function(
        func=carry,
        name="move_file",
        description=(
            "Move or rename a file within the workspace; missing folders are made, nothing is replaced. "
            "The result is {path, moved_from}."
        ),
        args_schema=MoveFileArgs,
        metadata=declare(
            "write",
            idempotent=False,
            timeout_s=30,
            trusted=True,
            folder=workspace.path,
            reversible=True,
            preview=partial(move_preview, workspace),
        ),
    )
