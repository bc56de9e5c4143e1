"""Reading a run: what is found of it in one transaction, and the check that it is what was written."""

import sqlite3
from typing import NamedTuple

from graph.errors import LedgerCorruptError, LedgerSealError
from graph.ledger.chain import Row, fault_of
from graph.ledger.protocol import RunKey
from graph.ledger.seal import SealKey, seal_fault
from graph.ledger.sqlite.queries import Standing, has_messages, rows_of
from graph.ledger.transcript import event_of
from graph.record.events import Event
from graph.record.run_state import run_name


class Found(NamedTuple):
    """Rows of a run, how many were written, and whether messages wait in its inbox."""

    rows: list[Row]
    standing: Standing
    has_messages: bool

    @property
    def seq(self) -> int:
        """Sequence number of the last event, 0 if none was found."""
        return self.rows[-1].seq if self.rows else 0


def found_of(db: sqlite3.Connection, run_id: int, after: int) -> Found:
    """Return what there is of a run from its `after`-th event on."""
    return Found(*rows_of(db, run_id, after), has_messages(db, run_id))


def checked_events(database: str, key: SealKey | None, run: RunKey, found: Found, after: int) -> list[Event]:
    """Return the events after the `after`-th, their chain checked from there on.

    Raises:
        LedgerCorruptError: An event is not what was written.
        LedgerSealError: The seal that was made with this key does not fit.
    """
    name, (rows, standing, _) = run_name(run.thread, run.n), found
    if fault := fault_of(name, rows, standing.events, after):
        raise LedgerCorruptError(database, name, fault.seq, fault.why)
    if key is not None and key.id == standing.key and rows:
        broken = seal_fault(key, standing.key, standing.seal, rows[-1].link)
        if broken is not None:
            raise LedgerSealError(database, name, broken)
    events = map(event_of, rows)
    return [event for event in events if event is not None and event.seq > after]
