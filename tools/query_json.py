"""Tool `query_json`: a part of a JSON file, by JMESPath."""

from collections.abc import Sequence
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import Field

from planner_executor.tools.declaration import ToolArgs, declare
from planner_executor.tools.errors import InputRefused
from planner_executor.tools.files.lookup import ask_of_file
from planner_executor.tools.files.root import Root
from planner_executor.tools.url_display import shortened
from planner_executor.tools.workers.fault import Fault
from planner_executor.tools.workers.process import Bounds


class QueryJsonArgs(ToolArgs):
    """Arguments of `query_json`."""

    path: str = Field(min_length=1, max_length=1000, description="relative path of the JSON or JSON lines file")
    expression: str = Field(
        default="@",
        min_length=1,
        max_length=2000,
        description="JMESPath, such as 'orders[?total > `100`].id', 'length(orders)' or 'keys(@)'",
    )


def query_json(roots: Sequence[Root], time_s: int = 30) -> BaseTool:
    """Return the tool over some folders; the first that has the file is taken."""
    bounds = Bounds(time_s=time_s, memory_bytes=1_500_000_000)

    def ask(path: str, expression: str = "@") -> dict[str, Any]:
        task, request = "planner_executor.tools.tables.json_value:query", {"expression": expression}
        try:
            return ask_of_file(roots, path, task, request, bounds)
        except Fault as fault:
            raise InputRefused(f"{path!r} has no answer to {shortened(expression)!r}", fault.reason) from fault

    return StructuredTool.from_function(
        func=ask,
        name="query_json",
        description=(
            "Take a part out of a JSON file, or of one of JSON lines, by JMESPath. The result is {path, folder, value, "
            "total, cut}; cut is true if value holds only the first of a list's total items."
        ),
        args_schema=QueryJsonArgs,
        metadata=declare(
            "read", idempotent=True, timeout_s=time_s + 5, trusted=False, reads=[root.path for root in roots]
        ),
    )
