"""Tool `query_csv`: rows of a CSV file, filtered, sorted and added up by SQL."""

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

_ALL = "SELECT * FROM data"


class QueryCsvArgs(ToolArgs):
    """Arguments of `query_csv`."""

    path: str = Field(min_length=1, max_length=1000, description="relative path of the CSV file")
    sql: str = Field(
        default=_ALL, max_length=20_000, description="one SELECT in SQLite's dialect; the file is the table data"
    )
    params: list[str | int | float | bool | None] = Field(
        default_factory=list, max_length=500, description="values for each ? in sql"
    )
    limit: int = Field(default=100, ge=1, le=5000, description="how many rows at most")
    header: bool = Field(default=True, description="whether the first row names the columns; else they are c1, c2, ...")


def query_csv(roots: Sequence[Root], time_s: int = 30) -> BaseTool:
    """Return the tool over some folders; the first that has the file is taken."""
    # The query's own limit comes first, which says how to ask for less; then that of its process, then that of the
    # call.
    bounds = Bounds(time_s=time_s + 5, memory_bytes=1_500_000_000)

    def ask(
        path: str,
        sql: str = _ALL,
        params: list[str | int | float | bool | None] | None = None,
        limit: int = 100,
        header: bool = True,
    ) -> dict[str, Any]:
        request = {"sql": sql, "params": params or [], "limit": limit, "header": header, "time_s": time_s}
        try:
            return ask_of_file(roots, path, "planner_executor.tools.tables.csv_table:query", request, bounds)
        except Fault as fault:
            raise InputRefused(f"{path!r} has no answer to {shortened(sql)!r}", fault.reason) from fault

    return StructuredTool.from_function(
        func=ask,
        name="query_csv",
        description=(
            "Read a CSV file with one SELECT over the table data. Delimiter, encoding and numbers are recognised. The "
            "result is {path, folder, columns, rows: [{column: value}], returned, cut, cells_cut, table: {rows, "
            "delimiter, encoding, uneven_rows, columns: {name: kind}}}; cut is true if there are more rows."
        ),
        args_schema=QueryCsvArgs,
        metadata=declare(
            "read",
            idempotent=True,
            timeout_s=time_s + 10,
            trusted=False,
            free_args=("params",),
            reads=[root.path for root in roots],
        ),
    )
