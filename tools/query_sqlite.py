"""Tool `query_sqlite`: rows of an SQLite database, read only."""

from collections.abc import Sequence
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import Field

from planner_executor.tools.declaration import ToolArgs, declare
from planner_executor.tools.errors import FileNotReadable, InputRefused
from planner_executor.tools.files.lookup import root_containing
from planner_executor.tools.files.root import Root
from planner_executor.tools.url_display import shortened
from planner_executor.tools.workers.fault import Fault
from planner_executor.tools.workers.process import Bounds, in_child

_SCHEMA = "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY type DESC, name"


class QuerySqliteArgs(ToolArgs):
    """Arguments of `query_sqlite`."""

    path: str = Field(min_length=1, max_length=1000, description="relative path of the database")
    sql: str = Field(default="", max_length=20_000, description="one SELECT; left out, it lists the tables")
    params: list[str | int | float | bool | None] = Field(
        default_factory=list, max_length=500, description="values for each ? in sql"
    )
    limit: int = Field(default=100, ge=1, le=5000, description="how many rows at most")


def query_sqlite(roots: Sequence[Root], time_s: int = 30) -> BaseTool:
    """Return the tool over some folders; the first that has the file is taken."""
    bounds = Bounds(time_s=time_s + 5, memory_bytes=1_000_000_000)

    def ask(
        path: str, sql: str = "", params: list[str | int | float | bool | None] | None = None, limit: int = 100
    ) -> dict[str, Any]:
        root = root_containing(roots, path)
        try:
            # The folder's handle and a name in it, and no open file as for other tools: SQLite opens paths only
            # (decision 14).
            with root.place(path) as place:
                root.check_own(place)
                request = {"folder": place.folder, "name": place.name, "sql": sql or _SCHEMA, "params": params or []}
                request |= {"limit": limit, "time_s": time_s}
                rows = in_child("planner_executor.tools.tables.database:query", request, bounds, (place.folder,))
        except Fault as fault:
            raise InputRefused(f"{path!r} has no answer to {shortened(sql)!r}", fault.reason) from fault
        except OSError as error:
            raise FileNotReadable(path, error.strerror or type(error).__name__) from error
        return {"path": path, "folder": root.name, **rows}

    return StructuredTool.from_function(
        func=ask,
        name="query_sqlite",
        description=(
            "Read an SQLite database with one SELECT. The result is {path, folder, columns, rows: [{column: value}], "
            "returned, cut, cells_cut}; cut is true if there are more rows."
        ),
        args_schema=QuerySqliteArgs,
        metadata=declare(
            "read",
            idempotent=True,
            timeout_s=time_s + 10,
            trusted=False,
            free_args=("params",),
            reads=[root.path for root in roots],
        ),
    )
