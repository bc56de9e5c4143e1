"""Tool `read_logs`: records of logs, whatever format they are in, in order of time."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import Field

from planner_executor.incident_tools.logs.content import MOST_BYTES
from planner_executor.incident_tools.logs.moments import moment, shown
from planner_executor.incident_tools.logs.record import Level
from planner_executor.incident_tools.logs.rotation import is_log_name, rotated_copies
from planner_executor.incident_tools.logs.selection import LogSelection, Wanted, in_order, read_log
from planner_executor.tools.declaration import ToolArgs, declare
from planner_executor.tools.errors import InputRefused, NothingFound, SourceNotReadable
from planner_executor.tools.folder import Folder

_MOST_FILES = 50
_MOST_COPIES_LOOKED_INTO = 5
_MOST_COPIES_NAMED = 12
_BYTES_LOOKED_INTO = 10_000_000


class ReadLogsArgs(ToolArgs):
    """Arguments of `read_logs`."""

    path: str = Field(
        min_length=1, max_length=500, description="relative path of a log, or a pattern such as '**/access.log*'"
    )
    since: str | None = Field(default=None, description="first moment, such as 2026-09-15T08:14:00Z")
    until: str | None = Field(default=None, description="last moment")
    min_level: Level = Field(default="debug", description="least level; in access logs 5xx is error, 4xx warning")
    contains: str = Field(default="", max_length=500, description="text that a record must hold, in any case")
    limit: int = Field(default=500, ge=1, le=5000, description="how many records at most; the first ones are kept")


def read_logs(folder: Folder) -> BaseTool:
    """Return the tool over one folder."""

    def read(
        path: str,
        since: str | None = None,
        until: str | None = None,
        min_level: Level = "debug",
        contains: str = "",
        limit: int = 500,
    ) -> dict[str, Any]:
        wanted = Wanted(_bound(since), _bound(until), min_level, contains, limit)
        sources = _sources(folder, path)
        beside = [copy for copy in rotated_copies(path, folder.files()) if copy not in sources]
        return _result(_readings(folder, sources, wanted), beside, limit)

    return StructuredTool.from_function(
        func=read,
        name="read_logs",
        description=(
            "Read logs, plain or gzip: access, JSON lines, journal export, plain text. The result is {matched, "
            "returned, first_error_at, last_error_at, levels, rotated, files, skipped, records: [{source, line, at, "
            "level, message, fields}]}, times in UTC; rotated names older copies not read. group_errors takes it whole."
        ),
        args_schema=ReadLogsArgs,
        metadata=declare("read", idempotent=True, timeout_s=60, trusted=False, free_args=("path", "since", "until")),
    )


def _sources(folder: Folder, path: str) -> list[str]:
    found = folder.matching(path)
    if found == [PurePosixPath(path).as_posix()]:
        return found
    logs = [source for source in found if is_log_name(PurePosixPath(source).name)]
    if logs:
        return logs
    every = [source for source in folder.files() if is_log_name(PurePosixPath(source).name)]
    rotated = rotated_copies(path, every)
    periods = {source: _period(folder, source) for source in rotated[:_MOST_COPIES_LOOKED_INTO]}
    periods |= dict.fromkeys(rotated[_MOST_COPIES_LOOKED_INTO:_MOST_COPIES_NAMED], "not looked into")
    raise NothingFound(_no_log(path, periods, [source for source in every if source not in rotated]))


def _period(folder: Folder, source: str) -> str:
    file = folder.file(source)
    try:
        return read_log(source, file, Wanted(limit=0), _BYTES_LOOKED_INTO).period if file else "gone"
    except SourceNotReadable as error:
        return error.reason


def _readings(folder: Folder, sources: list[str], wanted: Wanted) -> list[LogSelection]:
    """Read the logs one after the other, within one bound of bytes for all; one that cannot be read is skipped.

    Raises:
        SourceNotReadable: None of them can be read.
    """
    left = MOST_BYTES
    readings: list[LogSelection] = []
    failures: list[SourceNotReadable] = []
    for source in sources:
        file = folder.file(source)
        reading = LogSelection(source)
        if file is None or left <= 0 or len(readings) >= _MOST_FILES:
            reading.skip("not read: too many logs, or too large together" if file else "gone while it was being read")
        else:
            try:
                reading = read_log(source, file, wanted, left)
            except SourceNotReadable as error:
                failures.append(error)
                reading.skip(error.reason)
        left -= reading.bytes_read
        readings.append(reading)
    if failures and len(failures) == len(readings):
        raise failures[0]
    return readings


def _result(readings: list[LogSelection], rotated: list[str], limit: int) -> dict[str, Any]:
    levels = sum((reading.levels for reading in readings), Counter[str]())
    records = list(in_order(readings, limit))
    skipped = [place for reading in readings for place in reading.skipped]
    return {
        "matched": levels.total(),
        "returned": len(records),
        "first_error_at": shown(min(_known(reading.first_error for reading in readings), default=None)),
        "last_error_at": shown(max(_known(reading.last_error for reading in readings), default=None)),
        "levels": dict(levels),
        "rotated": rotated[:_MOST_FILES],
        "files": [reading.to_json() for reading in readings[:_MOST_FILES]],
        "skipped": skipped[:_MOST_FILES],
        "skipped_count": sum(reading.skipped_count for reading in readings),
        "records": records,
    }


def _known(moments: Iterable[datetime | None]) -> list[datetime]:
    return [each for each in moments if each is not None]


def _bound(text: str | None) -> datetime | None:
    at = moment(text) if text else None
    if text and at is None:
        raise InputRefused(f"{text!r} is not a time", "write it like 2026-09-15T08:14:07Z")
    return at


def _no_log(path: str, rotated: Mapping[str, str], others: Sequence[str]) -> str:
    """Return the message for a path without a log: rotated copies with the period each covers, then other logs."""
    copies = ", ".join(f"{source} ({period})" for source, period in rotated.items())
    parts = [f"no log fits {path!r}"]
    parts += [f"rotated copies of it are there: {copies}"] if copies else []
    parts += [f"other logs: {', '.join(others[:12])}"] if others else []
    return "; ".join(parts) if len(parts) > 1 else f"{parts[0]}, and there are no others in the folder"
