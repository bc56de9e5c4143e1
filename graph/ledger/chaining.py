"""New events of a run: numbered, timed, salted and chained to those before them."""

import secrets
import time
from collections.abc import Sequence

from planner_executor.graph.errors import StaleRunError
from planner_executor.graph.ledger.chain import SALT_BYTES, Row, link, payload_digest
from planner_executor.graph.plan.json_writer import COMPACT, json_writer
from planner_executor.graph.record.events import Draft, Event, RunStarted
from planner_executor.graph.record.person import Approver
from planner_executor.graph.record.run_key import RunKey

compact_json = json_writer(separators=COMPACT, allow_nan=False)


def of_run(database: str, run: RunKey, drafts: Sequence[Draft]) -> list[Draft]:
    """Return the first events of a run, with its thread and number in `run_started`.

    Raises:
        StaleRunError: A schedule asks for the run, whose thread has one: each moment starts one run (decision 163).
    """
    started = drafts[0].data if drafts else None
    by = Approver.of_label(started.started_by or "") if isinstance(started, RunStarted) else None
    if run.n > 1 and by is not None and by.source == "schedule":
        raise StaleRunError(database, run.id)
    return [draft.of_run(run.thread, run.n) for draft in drafts]


def must_sync(drafts: Sequence[Draft]) -> bool:
    """Whether events have to survive a power cut once they are written; see `graph.ledger.protocol.Ledger.append`."""
    return not all(draft.safe for draft in drafts)


def chained(drafts: Sequence[Draft], seq: int, before: bytes) -> tuple[list[Row], list[Event]]:
    """Return events as rows to store and as events to read.

    Args:
        drafts: The events, in order.
        seq: Sequence number of the run's last event, 0 if it has none.
        before: The hash of that event, or `first_link` if the run has no events.

    Raises:
        ValueError: An event holds a lone surrogate or NaN.
    """
    rows, events = [], []
    for number, draft in enumerate(drafts, seq + 1):
        payload = compact_json(draft.payload)
        for text in (payload, draft.step or ""):
            text.encode()  # refuses lone surrogates, which the digest's "surrogateescape" would accept
        row = new_row(number, draft.kind, draft.step, payload, before)
        rows.append(row)
        events.append(Event.written(number, row.at, draft))
        before = row.link
    return rows, events


def new_row(seq: int, kind: str, step: str | None, payload: str, before: bytes) -> Row:
    """Return a row that is written now, salted, and chained to the one whose hash is `before`."""
    salt, at = secrets.token_bytes(SALT_BYTES), time.time()
    digest = payload_digest(salt, payload)
    return Row(seq, kind, step, at, payload, salt, digest, link(before, seq, kind, step, at, digest))
