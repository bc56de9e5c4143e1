"""A run's whole stored record, which can be verified, exported and replayed without the database."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from planner_executor.graph.ledger.chain import Row, first_link
from planner_executor.graph.record.artifacts import artifacts_named
from planner_executor.graph.record.events import Event
from planner_executor.graph.record.run_key import run_name

ARTIFACT_ID = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Transcript:
    """The rows of a run, the number ever written, its seal, and the artifacts named by its events, by id."""

    thread: str
    n: int
    rows: Sequence[Row]
    written: int
    key: str | None = None
    seal: bytes | None = field(default=None, repr=False)
    artifacts: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def run(self) -> str:
        """The run's name."""
        return run_name(self.thread, self.n)

    @property
    def head(self) -> bytes:
        """The hash of the last event, which covers all before it."""
        return self.rows[-1].link if self.rows else first_link(self.run)

    def events(self) -> list[Event]:
        """Return the events; damaged rows are skipped, `verify` reports them."""
        return list(events_of(self.rows))

    def lost_artifacts(self) -> dict[int, str]:
        """Return sequence number -> id, for events that name a missing or changed artifact."""
        named = ((event.seq, found) for event in events_of(self.rows) for found in artifacts_named([event]))
        return {seq: found for seq, found in named if not is_artifact(found, self.artifacts.get(found))}


def event_of(row: Row) -> Event | None:
    """Return the event in a row, or None if its payload is not a JSON object."""
    try:
        payload = json.loads(row.payload)
    except (ValueError, TypeError, RecursionError):
        return None
    if not isinstance(payload, dict):
        return None
    return Event(row.seq, row.kind, row.step, row.at, payload)


def events_of(rows: Iterable[Row]) -> Iterator[Event]:
    """Yield the events in rows; damaged ones are skipped."""
    return (event for event in map(event_of, rows) if event is not None)


def artifact_ids(events: Sequence[Event]) -> list[str]:
    """Return the ids of the artifacts named by events; malformed ids of damaged events are skipped."""
    return [name for name in artifacts_named(events) if ARTIFACT_ID.fullmatch(name)]


def artifacts_in(rows: Sequence[Row], events: Sequence[Event]) -> list[str]:
    """Return the ids of the artifacts that new events name; most name none, which their text shows at once."""
    naming = [event for row, event in zip(rows, events, strict=True) if '"artifact":' in row.payload]
    return artifact_ids(naming) if naming else []


def source_in(payload: str) -> str:
    """Return the run that a fork names in its event `run_forked`, empty if the event is damaged."""
    try:
        found = json.loads(payload)["source"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return ""
    return str(found)


def is_artifact(artifact_id: str, content: str | None) -> bool:
    """Whether the content belongs to that id."""
    if not isinstance(content, str):
        return False
    return sha256(content.encode("utf-8", "surrogateescape")).hexdigest() == artifact_id
