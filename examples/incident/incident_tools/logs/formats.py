"""The format of a log, recognised by its beginning."""

from collections.abc import Callable, Iterator

from planner_executor.incident_tools.logs.content import LogBytes
from planner_executor.incident_tools.logs.journal_export import is_journal, journal_entries
from planner_executor.incident_tools.logs.json_lines import is_json_log, json_entries
from planner_executor.incident_tools.logs.nginx import access_entries, is_access_log
from planner_executor.incident_tools.logs.plain import plain_entries
from planner_executor.incident_tools.logs.record import Entry

Parser = Callable[[LogBytes], Iterator[Entry]]

_FORMATS: tuple[tuple[str, Callable[[str], bool], Parser], ...] = (
    ("json", is_json_log, json_entries),
    ("access", is_access_log, access_entries),
    ("journal", is_journal, journal_entries),
)


def format_of(content: LogBytes) -> tuple[str, Parser] | None:
    """Return the name of a log's format and its parser, or None if the log is not text."""
    head = content.head.decode("utf-8", "replace").lstrip()
    for name, fits, parser in _FORMATS:
        if fits(head):
            return name, parser
    return None if b"\0" in content.head else ("plain", plain_entries)
