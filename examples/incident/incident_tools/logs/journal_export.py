"""The export format of systemd's journal, as `journalctl -o export` writes it.

Source: systemd, "Journal Export Formats": fields as `NAME=value`, or `NAME`, the size as 8 bytes little-endian and the
value as it is; an empty line ends an entry.
"""

import re
from collections.abc import Iterator
from datetime import datetime

from planner_executor.incident_tools.logs.content import LogBytes
from planner_executor.incident_tools.logs.moments import moment
from planner_executor.incident_tools.logs.record import Entry, Level, Record, Unreadable

_FIRST = re.compile(r"_{0,2}[A-Z][A-Z0-9_]{0,63}(?:=|\n)")
_NAME = re.compile(rb"[A-Z_][A-Z0-9_]{0,63}")
_LARGEST_VALUE = 10_000_000
_SIZE_BYTES = 8
_PRIORITIES: tuple[Level, ...] = (
    "critical", "critical", "critical", "error", "warning", "notice", "info", "debug",
)  # fmt: skip
_OF_NO_USE = {"MESSAGE", "PRIORITY", "_BOOT_ID", "_MACHINE_ID", "_SOURCE_REALTIME_TIMESTAMP"}


def is_journal(head: str) -> bool:
    """Whether a log begins with a field of the journal."""
    return _FIRST.match(head) is not None


def journal_entries(content: LogBytes) -> Iterator[Entry]:
    """Yield one record for each entry; addresses of the journal itself, such as cursors, are left out."""
    fields: dict[str, str] = {}
    begun = 1
    while line := content.readline():
        if not line.strip():
            if fields:
                yield _record(begun, fields)
            fields = {}
            continue
        begun = begun if fields else content.line
        name, equals, value = line.rstrip(b"\n").partition(b"=")
        if not _NAME.fullmatch(name):
            yield Unreadable(content.line, "no field of a journal entry")
            continue
        fields[name.decode()] = (value if equals else _block(content)).decode("utf-8", "replace")
    if fields:
        yield _record(begun, fields)


def _block(content: LogBytes) -> bytes:
    """Return a value that is written with its size before it, and pass the end of its line."""
    size = int.from_bytes(content.read(_SIZE_BYTES), "little")
    if size > _LARGEST_VALUE:
        return b"(larger than may be read)"
    value = content.read(size)
    content.read(1)
    return value


def _record(line: int, fields: dict[str, str]) -> Record:
    kept = {name: value for name, value in fields.items() if not name.startswith("__") and name not in _OF_NO_USE}
    return Record(line, _at(fields), _level(fields.get("PRIORITY", "")), fields.get("MESSAGE", ""), kept)


def _at(fields: dict[str, str]) -> datetime | None:
    written = fields.get("_SOURCE_REALTIME_TIMESTAMP") or fields.get("__REALTIME_TIMESTAMP", "")
    return moment(int(written)) if written.isascii() and written.isdigit() and len(written) < 20 else None


def _level(priority: str) -> Level:
    return _PRIORITIES[int(priority)] if priority in set("01234567") else "info"
