"""Selection of log records: the criteria, and the records of one log that meet them."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from planner_executor.incident_tools.logs.content import DAMAGED, MOST_BYTES, LogBytes, TooMuch, opened
from planner_executor.incident_tools.logs.formats import format_of
from planner_executor.incident_tools.logs.moments import shown
from planner_executor.incident_tools.logs.record import LEVELS, Entry, Level, Record
from planner_executor.tools.errors import SourceNotReadable

MOST_CHARACTERS = 2_000_000
_MOST_SKIPPED_SHOWN = 20
_LONG_AGO = datetime.min.replace(tzinfo=UTC)
_ERRORS = LEVELS[LEVELS.index("error") :]


@dataclass(frozen=True)
class Wanted:
    """The criteria; a record without a time fails any bound of time."""

    since: datetime | None = None
    until: datetime | None = None
    min_level: Level = "debug"
    contains: str = ""
    limit: int = 500

    def fits(self, record: Record) -> bool:
        """Whether a record is wanted."""
        if LEVELS.index(record.level) < LEVELS.index(self.min_level):
            return False
        if (self.since or self.until) and record.at is None:
            return False
        if record.at and ((self.since and record.at < self.since) or (self.until and record.at > self.until)):
            return False
        return not self.contains or self.contains.lower() in _text(record).lower()


@dataclass
class LogSelection:
    """Statistics of one log, and the first of its wanted records."""

    source: str
    format: str = "unknown"
    entries: int = 0
    first: datetime | None = None
    last: datetime | None = None
    records: list[Record] = field(default_factory=list)
    levels: Counter[str] = field(default_factory=Counter)
    first_error: datetime | None = None
    last_error: datetime | None = None
    skipped: list[dict[str, Any]] = field(default_factory=list)
    skipped_count: int = 0
    cut: bool = False
    bytes_read: int = 0

    def take(self, entry: Entry, wanted: Wanted) -> None:
        """Count an entry, and keep it if it is wanted."""
        if not isinstance(entry, Record):
            self.skip(entry.reason, entry.line)
            return
        self.entries += 1
        if entry.at:
            self.first = min(self.first or entry.at, entry.at)
            self.last = max(self.last or entry.at, entry.at)
        if not wanted.fits(entry):
            return
        self.levels[entry.level] += 1
        if entry.level in _ERRORS and entry.at:
            self.first_error = min(self.first_error or entry.at, entry.at)
            self.last_error = max(self.last_error or entry.at, entry.at)
        if len(self.records) < wanted.limit:
            self.records.append(entry)

    def skip(self, reason: str, line: int | None = None) -> None:
        """Note a part that was not read; only the first few are kept."""
        self.skipped_count += 1
        if len(self.skipped) < _MOST_SKIPPED_SHOWN:
            self.skipped.append({"source": self.source, "line": line, "reason": reason})

    def to_json(self) -> dict[str, Any]:
        """Return the log without its records."""
        period = {"first": shown(self.first), "last": shown(self.last)}
        return {"source": self.source, "format": self.format, "entries": self.entries, **period}

    @property
    def period(self) -> str:
        """The period that the log covers; open at the end if the log was not read to its end."""
        if not self.first:
            return "no times in it"
        return f"from {shown(self.first)} on" if self.cut else f"{shown(self.first)} to {shown(self.last)}"


def read_log(source: str, file: Path, wanted: Wanted, most: int = MOST_BYTES) -> LogSelection:
    """Read a log; if it is damaged or too large, up to there, with the reason.

    Raises:
        SourceNotReadable: Nothing of it can be read.
    """
    reading = LogSelection(source)
    try:
        with opened(file, most) as content:
            _read(reading, content, wanted)
    except DAMAGED as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        if not reading.entries:
            raise SourceNotReadable(source, reason) from error
        reading.cut = True
        reading.skip(f"damaged, the rest was not read: {reason}")
    return reading


def in_order(readings: list[LogSelection], limit: int) -> Iterator[dict[str, Any]]:
    """Yield the first records of several logs as JSON, in order of time, as long as they are not too large together."""
    found = [(reading.source, record) for reading in readings for record in reading.records]
    characters = 0
    for source, record in sorted(found, key=lambda each: (each[1].at or _LONG_AGO, each[0], each[1].line))[:limit]:
        shown_record = record.to_json(source)
        characters += len(json.dumps(shown_record))
        if characters > MOST_CHARACTERS:
            return
        yield shown_record


def _read(reading: LogSelection, content: LogBytes, wanted: Wanted) -> None:
    found = format_of(content)
    if found is None:
        raise SourceNotReadable(reading.source, "it is not text")
    reading.format, parse = found
    try:
        for entry in parse(content):
            reading.take(entry, wanted)
    except TooMuch:
        reading.cut = True
        reading.skip("too large, the rest was not read", content.line)
    finally:
        reading.bytes_read = content.taken


def _text(record: Record) -> str:
    return f"{record.message} {json.dumps(record.fields, ensure_ascii=False, default=str)}"
