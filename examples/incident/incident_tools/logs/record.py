"""One record of a log, whatever format it was written in."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from planner_executor.incident_tools.logs.moments import shown

Level = Literal["debug", "info", "notice", "warning", "error", "critical"]
LEVELS: tuple[Level, ...] = ("debug", "info", "notice", "warning", "error", "critical")

LONGEST_TEXT = 8_000
_MOST_FIELDS = 60
_DEEPEST = 4
_NAMES: dict[str, Level] = {
    "trace": "debug", "verbose": "debug", "information": "info", "warn": "warning", "err": "error", "severe": "error",
    "crit": "critical", "fatal": "critical", "alert": "critical", "emerg": "critical", "panic": "critical",
    **{level: level for level in LEVELS},
}  # fmt: skip
_CONTROL = {code: "\ufffd" for code in (*range(32), 127, *range(128, 160)) if chr(code) not in "\n\t"}


@dataclass(frozen=True)
class Record:
    """One entry of a log: `line` is its first line, `at` is None if it has no time."""

    line: int
    at: datetime | None
    level: Level
    message: str
    fields: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self, source: str) -> dict[str, Any]:
        """Return the record as tools pass it on; long texts lose their middle."""
        return {
            "source": source,
            "line": self.line,
            "at": shown(self.at),
            "level": self.level,
            "message": bounded_text(self.message),
            "fields": {
                bounded_text(key, 100): bounded(value) for key, value in list(self.fields.items())[:_MOST_FIELDS]
            },
        }


@dataclass(frozen=True)
class Unreadable:
    """A line that does not fit the format of its file."""

    line: int
    reason: str


Entry = Record | Unreadable


def level_named(name: object) -> Level | None:
    """Return the level that a word names.

    >>> level_named("WARN"), level_named("FATAL"), level_named("chatty")
    ('warning', 'critical', None)
    """
    return _NAMES.get(name.strip().lower()) if isinstance(name, str) else None


def bounded(value: Any, depth: int = _DEEPEST) -> Any:
    """Return a value of bounded size; deeper nesting becomes JSON text."""
    if isinstance(value, str):
        return bounded_text(value)
    if value is None or isinstance(value, bool | int | float):
        return value
    if depth == 0:
        return bounded_text(_as_json(value), 1_000)
    if isinstance(value, dict):
        return {
            bounded_text(str(key), 100): bounded(item, depth - 1) for key, item in list(value.items())[:_MOST_FIELDS]
        }
    return [bounded(item, depth - 1) for item in list(value)[:_MOST_FIELDS]]


def bounded_text(text: str, most: int = LONGEST_TEXT) -> str:
    """Return text without control characters, shortened in its middle: the ends of a stack trace matter most."""
    text = text.translate(_CONTROL).encode("utf-8", "replace").decode("utf-8")
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}…{text[half + 1 - most :]}"


def _as_json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "nested too deep to be shown"
