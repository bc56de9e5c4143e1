"""Equal errors: same exception, raised at the same line of the service's own code."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from planner_executor.incident_tools.failures.normalize import LogRecord
from planner_executor.incident_tools.failures.stack_trace import Frame, Trace, traces_in

_VARIABLE = re.compile(
    r"0x[0-9a-f]+|\b[0-9a-f]{8}(?:-?[0-9a-f]{4,}){1,4}\b|\d+(?:\.\d+)?|'[^']{0,200}'|\"[^\"]{0,200}\"", re.I
)
_LONGEST_COMMON = 120
_MOST_COMMON = 12

HereIs = Callable[[str], str | None]


@dataclass(frozen=True)
class Failure:
    """One error record: its exception, and the deepest frame in the service's own code."""

    record: LogRecord
    trace: Trace | None = None
    frame: Frame | None = None
    file: str | None = None

    @property
    def signature(self) -> tuple[object, ...]:
        """The key of the group."""
        if self.trace is None:
            return "said", self.record.fields.get("logger"), _VARIABLE.sub("*", one_line(self.record.message))
        return self.trace.exception, self.file or one_line(self.trace.message), self.frame.line if self.frame else None


@dataclass
class Group:
    """Errors of one kind."""

    failures: list[Failure] = field(default_factory=list)

    @property
    def rank(self) -> tuple[bool, bool, int, str]:
        """Order: a place in the service's own code first, then a traceback at all, then how many they are."""
        first = self.failures[0]
        return first.file is None, first.trace is None, -len(self.failures), first.record.at

    @property
    def times(self) -> list[str]:
        """When they happened, oldest first."""
        return sorted(failure.record.at for failure in self.failures if failure.record.at)

    def to_json(self) -> dict[str, Any]:
        """Return the group; unknown fields are null."""
        first = min(self.failures, key=lambda failure: (failure.record.at, failure.record.line))
        trace, frame, record, times = first.trace, first.frame, first.record, self.times
        exception, said = (trace.exception, trace.message) if trace else (None, record.message)
        return {
            "where": f"{first.file}:{frame.line}" if first.file and frame else None,
            "file": first.file,
            "line": frame.line if frame else None,
            "function": frame.function if frame else None,
            "statement": frame.statement if frame else None,
            "expression": (frame.expression or frame.statement) if frame else None,
            "exception": exception,
            "message": one_line(said),
            "count": len(self.failures),
            "first": times[0] if times else None,
            "last": times[-1] if times else None,
            "request": request_of(record),
            "common": common_fields([failure.record for failure in self.failures]),
            "sample": {"place": record.place, "at": record.at or None, "message": one_line(record.message)},
        }


def grouped(records: Iterable[LogRecord], here_is: HereIs) -> list[Group]:
    """Return the groups, ordered by `Group.rank`.

    Args:
        records: Errors, requests of access logs left out.
        here_is: The path in a traceback -> the file of the service that it is, or None.
    """
    groups: dict[tuple[object, ...], Group] = {}
    for record in records:
        failure = failure_in(record, here_is)
        groups.setdefault(failure.signature, Group()).failures.append(failure)
    return sorted(groups.values(), key=lambda group: group.rank)


def failure_in(record: LogRecord, here_is: HereIs) -> Failure:
    """Return the failure in a record; of a chain of exceptions the earliest that passed through the service's code."""
    traces = traces_in(record.trace)
    for trace in traces:
        for frame in reversed(trace.frames):
            if not frame.is_library and (file := here_is(frame.file)):
                return Failure(record, trace, frame, file)
    return Failure(record, traces[0] if traces else None)


def request_of(record: LogRecord) -> str | None:
    """Return the request that a record belongs to, such as `POST /pay (request req-7)`."""
    found = record.fields
    path = _first_text(found, ("path", "url", "uri", "route", "endpoint", "http.path"))
    number = _first_text(found, ("request_id", "requestId", "trace_id", "traceId", "correlation_id"))
    words = " ".join(filter(None, (_first_text(found, ("method", "http.method", "verb")), path)))
    return " ".join(filter(None, (words, number and f"(request {number})"))) or None


def common_fields(records: Sequence[LogRecord]) -> dict[str, Any]:
    """Return the short fields that all records share, if there are several records."""
    if len(records) < 2:
        return {}
    shared = {
        name: value
        for name, value in records[0].fields.items()
        if isinstance(value, str | int | float | bool) and len(str(value)) <= _LONGEST_COMMON
    }
    for record in records[1:]:
        shared = {name: value for name, value in shared.items() if record.fields.get(name) == value}
    return dict(list(shared.items())[:_MOST_COMMON])


def one_line(text: str, most: int = 300) -> str:
    """Return a text on one line, cut to `most` characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def _first_text(fields: dict[str, Any], names: Sequence[str]) -> str | None:
    found = (fields.get(name) for name in names)
    return next((one_line(each, 200) for each in found if isinstance(each, str) and each.strip()), None)
