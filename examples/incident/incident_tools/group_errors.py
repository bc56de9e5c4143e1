"""Tool `group_errors`: errors of logs, grouped by exception and place in the code."""

from functools import cache
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import Field

from planner_executor.incident_tools.failures.changes import changes_before
from planner_executor.incident_tools.failures.grouping import grouped
from planner_executor.incident_tools.failures.normalize import LogRecord, normalize_records
from planner_executor.incident_tools.failures.requests import failed_requests
from planner_executor.tools.declaration import ToolArgs, declare
from planner_executor.tools.errors import NothingFound
from planner_executor.tools.folder import Folder
from planner_executor.tools.numbers_in_words import counted

_MOST_RECORDS = 50_000


class GroupErrorsArgs(ToolArgs):
    """Arguments of `group_errors`."""

    records: list[Any] | dict[str, Any] = Field(
        description="one or several results of read_logs, nested as they come; records of level error are grouped"
    )
    limit: int = Field(default=10, ge=1, le=100, description="how many groups at most")


def group_errors(folder: Folder) -> BaseTool:
    """Return the tool; a frame of a traceback is the service's own if its file is in the folder."""

    def group(records: list[Any] | dict[str, Any], limit: int = 10) -> dict[str, Any]:
        given = list(normalize_records(records))[:_MOST_RECORDS]
        errors = [record for record in given if record.is_error]
        if not errors:
            read = counted(len(given), "record")
            raise NothingFound(f"none of the {read} is an error; read other logs, rotated ones, or another time")
        said = (record for record in errors if not record.is_access)
        groups = [found.to_json() for found in grouped(said, cache(folder.named_like))]
        requests = failed_requests(record for record in errors if record.is_access)
        began = next((row["first"] for row in [*groups, *requests]), None)
        return {
            "summary": _summary(groups, requests, len(errors)),
            "groups": groups[:limit],
            "requests": requests[:limit],
            "request_lines": [row["text"] for row in requests[:limit]] or ["no access log has a failed request"],
            "changes": changes_before(given, began),
            "sources": _sources(given),
        }

    return StructuredTool.from_function(
        func=group,
        name="group_errors",
        description=(
            "Group errors in logs. The result is {summary, groups: [{where, file, line, function, expression, "
            "exception, message, count, first, last, request, common, sample}], requests, request_lines, "
            "changes, sources}: file:line is the deepest frame in the folder's own code, groups with one first; "
            "changes are records just before the first error."
        ),
        args_schema=GroupErrorsArgs,
        metadata=declare("read", idempotent=True, timeout_s=30, trusted=False, free_args=("records",)),
    )


def _summary(groups: list[dict[str, Any]], requests: list[dict[str, Any]], errors: int) -> str:
    said = [f"{errors} error{'s' * (errors > 1)} in the logs."]
    if groups:
        top = groups[0]
        what = f"{top['exception']}: {top['message']}" if top["exception"] else top["message"]
        where = f" at {top['where']}" if top["where"] else ""
        said.append(
            f"Most telling: {what}{where}, {counted(top['count'], 'time')} from {top['first']} to {top['last']}."
        )
    if requests:
        said.append(f"First to fail: {requests[0]['text']}.")
    return " ".join(said)


def _sources(given: list[LogRecord]) -> list[str]:
    counts: dict[str, int] = {}
    for record in given:
        counts[record.source] = counts.get(record.source, 0) + 1
    return [f"{source}: {count} record{'s' * (count > 1)}" for source, count in sorted(counts.items())]
