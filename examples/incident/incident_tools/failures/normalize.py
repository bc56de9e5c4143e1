"""Any nesting of results of `read_logs` -> a flat list of records."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_DEEPEST = 10
_TRACES = ("exc_info", "exc_text", "exception", "traceback", "stack_trace", "stacktrace", "stack", "error.stack_trace")


@dataclass(frozen=True)
class LogRecord:
    """One record of the input; missing fields are empty."""

    source: str
    line: int
    at: str
    level: str
    message: str
    fields: dict[str, Any]

    @property
    def is_error(self) -> bool:
        """Whether its level is error or critical."""
        return self.level in ("error", "critical")

    @property
    def is_access(self) -> bool:
        """Whether it is a line of an access log."""
        return isinstance(self.fields.get("status"), int) and isinstance(self.fields.get("method"), str)

    @property
    def trace(self) -> str:
        """The text that may contain a traceback."""
        found = (self.fields.get(name) for name in _TRACES)
        return next((each for each in found if isinstance(each, str) and each), self.message)

    @property
    def place(self) -> str:
        """Its place, as `file:line`."""
        return f"{self.source}:{self.line}"


def normalize_records(given: object, depth: int = _DEEPEST) -> Iterator[LogRecord]:
    """Yield the records in the order of the input."""
    if depth == 0:
        return
    if isinstance(given, list):
        for item in given:
            yield from normalize_records(item, depth - 1)
    elif isinstance(given, dict) and isinstance(given.get("records"), list):
        yield from normalize_records(given["records"], depth - 1)
    elif isinstance(given, dict) and isinstance(given.get("message"), str) and "level" in given:
        fields = given.get("fields")
        yield LogRecord(
            source=str(given.get("source") or "unknown"),
            line=_whole(given.get("line")),
            at=str(given.get("at") or ""),
            level=str(given["level"]),
            message=given["message"],
            fields=fields if isinstance(fields, dict) else {},
        )


def _whole(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
