"""Reading a run: the data that a driver reads in one transaction, and its integrity check."""

from collections.abc import Sequence
from typing import NamedTuple

from planner_executor.graph.errors import LedgerCorruptError, LedgerSealError
from planner_executor.graph.ledger.chain import Row, fault_of
from planner_executor.graph.ledger.seal import SealKey, Standing, seal_fault
from planner_executor.graph.ledger.transcript import event_of
from planner_executor.graph.record.events import Event
from planner_executor.graph.record.run_key import RunKey


class Snapshot(NamedTuple):
    """A run in one transaction: rows from the reader's last known event on, standing, and whether messages wait."""

    rows: Sequence[Row]
    standing: Standing
    has_messages: bool

    @property
    def seq(self) -> int:
        """Sequence number of the last event, 0 if there is none."""
        return self.rows[-1].seq if self.rows else 0

    def is_as_read(self, after: int) -> bool:
        """Whether the reader is up to date at the `after`-th event, so that opening events may be written."""
        return not self.has_messages and self.seq == after


def checked_events(database: str, key: SealKey | None, run: RunKey, found: Snapshot, after: int) -> list[Event]:
    """Return the events after the `after`-th, their chain checked from there on.

    Raises:
        LedgerCorruptError: An event is damaged.
        LedgerSealError: The run is sealed with this key, and its seal does not fit.
    """
    rows, standing, _ = found
    if fault := fault_of(run.id, rows, standing.events, after):
        raise LedgerCorruptError(database, run.id, fault.seq, fault.why)
    # Without the key of its seal a run is read all the same; only what is written to it is refused.
    if key is not None and key.id == standing.key and rows:
        broken = seal_fault(key, standing.key, standing.seal, rows[-1].link)
        if broken is not None:
            raise LedgerSealError(database, run.id, broken)
    return [event for event in map(event_of, rows) if event is not None and event.seq > after]
