"""Writing events: rows, artifacts, seal and index, in one transaction."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field

from graph.errors import LedgerCorruptError, LedgerSealError
from graph.ledger.protocol import RunKey
from graph.ledger.seal import SealKey, seal_fault
from graph.ledger.sqlite.queries import head_of, row_of, standing_of, stored_row
from graph.ledger.sqlite.run_index import RunIndex
from graph.record.events import Draft, Event
from graph.record.run_state import run_name
from graph.record.values import Kept


@dataclass(frozen=True)
class EventWriter:
    """Writes events of any run of one database, which `database` names in messages; runs are sealed with `key`."""

    database: str
    key: SealKey | None
    index: RunIndex = field(default_factory=RunIndex)

    def write(
        self, db: sqlite3.Connection, run: RunKey, run_id: int, drafts: Sequence[Draft], artifacts: Sequence[Kept] = ()
    ) -> int:
        """Write events, the artifacts they name and the run's row in the index; return the last sequence number.

        Raises:
            LedgerCorruptError: Events of the run are missing at its end.
            LedgerSealError: The run is not sealed with this key.
        """
        seq, before = self._head(db, run, run_id)
        if not drafts:
            return seq
        rows, events, link = [], [], before
        for draft in drafts:
            seq += 1
            row = row_of(draft, seq, link)
            link = row.link
            rows.append((run_id, *stored_row(row)))
            events.append(Event(seq, draft.kind, draft.step, row.at, draft.payload))
        db.executemany("INSERT INTO ledger_events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        seal = (self.key.id, self.key.seal(link)) if self.key is not None else (None, None)
        db.execute("UPDATE ledger_runs SET events = ?, key = ?, seal = ? WHERE id = ?", (seq, *seal, run_id))
        kept = [(value.artifact.id, value.text) for value in artifacts if value.artifact]
        db.executemany("INSERT OR IGNORE INTO ledger_artifacts VALUES (?, ?)", kept)
        self.index.add(db, run_id, before, events, link)
        return seq

    def _head(self, db: sqlite3.Connection, run: RunKey, run_id: int) -> tuple[int, bytes]:
        """Return the sequence number and the hash of a run's last event, after a check that it is the last."""
        seq, before = head_of(db, run_id, run)
        standing = standing_of(db, run_id)
        if seq < standing.events:  # another event in its place would hide the loss
            raise LedgerCorruptError(self.database, run_name(run.thread, run.n), seq + 1, "is missing")
        if seq and (fault := seal_fault(self.key, standing.key, standing.seal, before)):
            raise LedgerSealError(self.database, run_name(run.thread, run.n), fault)
        return seq, before
