"""Failed requests in access logs."""

import re
from collections.abc import Iterable
from typing import Any

from planner_executor.incident_tools.failures.grouping import one_line
from planner_executor.incident_tools.failures.normalize import LogRecord

_NUMBERS = re.compile(r"/(?:\d+|[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{16,})(?=/|$)", re.I)


def failed_requests(records: Iterable[LogRecord]) -> list[dict[str, Any]]:
    """Return the failed requests by method, path and status, the earliest first; numbers in paths count as one."""
    found: dict[tuple[str, int], list[LogRecord]] = {}
    for record in records:
        path = _NUMBERS.sub("/*", str(record.fields.get("path", "")).partition("?")[0])
        found.setdefault((one_line(f"{record.fields['method']} {path}", 200), record.fields["status"]), []).append(
            record
        )
    rows = [_row(request, status, same) for (request, status), same in found.items()]
    return sorted(rows, key=lambda row: (row["first"] or "", row["request"]))


def _row(request: str, status: int, same: list[LogRecord]) -> dict[str, Any]:
    times = sorted(record.at for record in same)
    count = f"{len(same)} time{'s' * (len(same) > 1)}"
    return {
        "request": request,
        "status": status,
        "count": len(same),
        "first": times[0] or None,
        "last": times[-1] or None,
        "place": same[0].place,
        "text": f"{request} answered {status} {count}, first at {times[0]} ({same[0].place}), last at {times[-1]}",
    }
