"""Application logs with one JSON object on each line, whichever library wrote them."""

import json
from collections.abc import Iterator
from typing import Any

from planner_executor.incident_tools.logs.content import LogBytes
from planner_executor.incident_tools.logs.moments import moment
from planner_executor.incident_tools.logs.record import Entry, Level, Record, Unreadable, level_named

_TIMES = ("timestamp", "@timestamp", "time", "ts", "asctime", "datetime", "date", "t")
_LEVELS = ("level", "levelname", "severity", "log.level", "lvl", "loglevel")
_MESSAGES = ("message", "msg", "event", "text", "body")
_PINO: tuple[tuple[int, Level], ...] = ((60, "critical"), (50, "error"), (40, "warning"), (30, "info"), (0, "debug"))


def is_json_log(head: str) -> bool:
    """Whether a log begins with a JSON object; one that is longer than what is looked at counts."""
    first, end, _ = head.lstrip().partition("\n")
    return first.startswith("{") and (not end or isinstance(_object(first), dict))


def json_entries(content: LogBytes) -> Iterator[Entry]:
    """Yield one record for each object; a level that is missing or unknown counts as `info`."""
    for number, text in content.lines():
        if not text.strip():
            continue
        found = _object(text)
        yield _record(number, found) if isinstance(found, dict) else Unreadable(number, "no JSON object")


def _record(number: int, found: dict[str, Any]) -> Record:
    time, at = next(((name, at) for name in _TIMES if name in found and (at := moment(found[name]))), (None, None))
    level = next((name for name in _LEVELS if name in found), None)
    message = next((name for name in _MESSAGES if isinstance(found.get(name), str)), None)
    fields = {name: value for name, value in found.items() if name not in (time, level, message)}
    said = str(found[message]) if message else ""
    return Record(number, at, _level(found.get(level or "")), said, fields)


def _level(written: object) -> Level:
    if isinstance(written, int | float) and not isinstance(written, bool):
        return next((level for least, level in _PINO if written >= least), "info")
    return level_named(written) or "info"


def _object(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=str)
    except (ValueError, RecursionError):
        return None
