"""Access logs of nginx and Apache in the `combined` and the `common` format."""

import re
from collections.abc import Iterator

from planner_executor.incident_tools.logs.content import LogBytes
from planner_executor.incident_tools.logs.moments import moment
from planner_executor.incident_tools.logs.record import Entry, Level, Record, Unreadable

_LINE = re.compile(
    r'(?P<client>\S+) \S+ (?P<user>\S+) \[(?P<at>[^\]]{10,40})\] "(?P<request>(?:[^"\\]|\\.)*+)" (?P<status>\d{3}) '
    r'(?P<bytes>\d+|-)(?: "(?P<referrer>(?:[^"\\]|\\.)*+)" "(?P<agent>(?:[^"\\]|\\.)*+)")?'
)
_SERVER_ERROR, _CLIENT_ERROR = 500, 400


def is_access_log(head: str) -> bool:
    """Whether a log begins with a request."""
    return _LINE.match(head) is not None


def access_entries(content: LogBytes) -> Iterator[Entry]:
    """Yield one record for each request: 5xx is an error, 4xx a warning."""
    for number, text in content.lines():
        match = _LINE.match(text)
        at = moment(match["at"]) if match else None
        if match is None or at is None:
            if text.strip():
                yield Unreadable(number, "no request in the combined format")
            continue
        method, path, _ = (*match["request"].split(" "), "", "")[:3]
        fields = {
            "method": method,
            "path": path,
            "status": int(match["status"]),
            "bytes": 0 if match["bytes"] == "-" else int(match["bytes"]),
            **{name: match[name] for name in ("client", "referrer", "agent") if match[name] not in (None, "-")},
        }
        yield Record(number, at, _level(int(match["status"])), f"{method} {path} {match['status']}", fields)


def _level(status: int) -> Level:
    return "error" if status >= _SERVER_ERROR else "warning" if status >= _CLIENT_ERROR else "info"
