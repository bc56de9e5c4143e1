"""Tool `list_files`: the files of the workspace."""

from datetime import UTC, datetime
from itertools import islice
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import Field

from planner_executor.tools.declaration import ToolArgs, declare
from planner_executor.tools.files.root import Root


class ListFilesArgs(ToolArgs):
    """Arguments of `list_files`."""

    pattern: str = Field(default="**", min_length=1, max_length=500, description="such as '*.csv' or 'data/**'")
    limit: int = Field(default=200, ge=1, le=2000, description="how many files at most")


def list_files(workspace: Root) -> BaseTool:
    """Return the tool over one folder."""

    def listing(pattern: str = "**", limit: int = 200) -> dict[str, Any]:
        found = list(islice(workspace.files(pattern), limit + 1))
        files = [{"path": f.path, "bytes": f.size, "modified": _moment(f.modified_at)} for f in found[:limit]]
        return {"files": files, "returned": len(files), "cut": len(found) > limit}

    return StructuredTool.from_function(
        func=listing,
        name="list_files",
        description=(
            "List the files in the workspace. The result is {files: [{path, bytes, modified}], returned, cut}; "
            "cut is true if there are more."
        ),
        args_schema=ListFilesArgs,
        metadata=declare(
            "read", idempotent=True, timeout_s=30, trusted=False, free_args=("pattern",), reads=(workspace.path,)
        ),
    )


def _moment(at: float) -> str:
    return datetime.fromtimestamp(int(at), UTC).isoformat().replace("+00:00", "Z")
