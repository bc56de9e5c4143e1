"""Changes before the first error: records of starts, stops and deploys."""

import re
from collections.abc import Iterable
from datetime import timedelta

from planner_executor.incident_tools.failures.grouping import one_line
from planner_executor.incident_tools.failures.normalize import LogRecord
from planner_executor.incident_tools.logs.moments import moment, shown

NOTHING = "no record before the first error is about a change"

_CHANGE = re.compile(
    r"\b(?:deploy\w*|releas\w*|rollback|rolled back|restart\w*|start(?:ed|ing)|stopp(?:ed|ing)|reload\w*|upgrad\w*|"
    r"updat(?:ed|ing)|migrat\w*|config\w*|version|chang(?:ed|es)|install(?:ed|ing)|active|enabled|disabled)\b",
    re.I,
)
_BEFORE = timedelta(hours=1)
_MOST = 6


def changes_before(records: Iterable[LogRecord], first_error: str | None) -> list[str]:
    """Return the last records about changes in the hour before the first error, in order of time, with their places."""
    end = moment(first_error)
    if end is None:
        return [NOTHING]
    since = shown(end - _BEFORE) or ""
    found = [
        record
        for record in records
        if since <= record.at <= str(first_error) and not record.is_access and not record.is_error
    ]
    telling = sorted((r for r in found if _CHANGE.search(r.message)), key=lambda record: (record.at, record.line))
    return [
        f"{record.at} {one_line('; '.join(record.message.splitlines()))} ({record.place})"
        for record in telling[-_MOST:]
    ] or [NOTHING]
