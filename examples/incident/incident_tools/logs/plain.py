"""Logs in no other format: a line that begins with a time begins a record, the lines below it belong to it."""

import re
from collections.abc import Iterator
from datetime import datetime

from planner_executor.incident_tools.logs.content import LogBytes
from planner_executor.incident_tools.logs.moments import leading_moment
from planner_executor.incident_tools.logs.record import LONGEST_TEXT, Entry, Level, Record, level_named

_LEVEL = re.compile(
    r"\b(TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERR(?:OR)?|SEVERE|CRIT(?:ICAL)?|FATAL|ALERT|EMERG|PANIC)\b"
    r"|\[(trace|debug|info|notice|warn(?:ing)?|err(?:or)?|crit(?:ical)?|fatal|alert|emerg)\]"
)
_TRACE = "Traceback (most recent call last)"
_LEVEL_WITHIN = 120
_TRACE_WITHIN = 2 * LONGEST_TEXT


def plain_entries(content: LogBytes) -> Iterator[Entry]:
    """Yield the records; in a log without any times each line is one."""
    pending: tuple[int, datetime | None, str] | None = None
    for number, text in content.lines():
        at, rest = leading_moment(text)
        if at is None and pending and pending[1] is not None:
            if len(pending[2]) < _TRACE_WITHIN:
                pending = (*pending[:2], f"{pending[2]}\n{text}")
            continue
        if pending:
            yield _record(*pending)
        pending = (number, at, rest) if rest.strip() else None
    if pending:
        yield _record(*pending)


def _record(line: int, at: datetime | None, text: str) -> Record:
    return Record(line, at, _level(text), text.rstrip())


def _level(text: str) -> Level:
    first = text.partition("\n")[0][:_LEVEL_WITHIN]
    match = _LEVEL.search(first)
    named = level_named(match[1] or match[2]) if match else None
    return named or ("error" if _TRACE in text else "info")
