"""Writing events: rows, artifacts, seal and index, in one transaction."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field

from planner_executor.graph.ledger.chaining import chained
from planner_executor.graph.ledger.family import effects_in
from planner_executor.graph.ledger.head import Head
from planner_executor.graph.ledger.refusals import check_end, standing_after
from planner_executor.graph.ledger.seal import SealKey
from planner_executor.graph.ledger.sqlite.artifact_uses import note_uses
from planner_executor.graph.ledger.sqlite.family_table import note_effects
from planner_executor.graph.ledger.sqlite.queries import stored_row
from planner_executor.graph.ledger.sqlite.run_index import RunIndex
from planner_executor.graph.ledger.transcript import artifacts_in
from planner_executor.graph.record.events import Draft
from planner_executor.graph.record.values import Kept


@dataclass(frozen=True)
class EventWriter:
    """Writes events of any run of one database, which `database` names in messages; runs are sealed with `key`."""

    database: str
    key: SealKey | None
    index: RunIndex = field(default_factory=RunIndex)

    def write(self, db: sqlite3.Connection, head: Head, drafts: Sequence[Draft], artifacts: Sequence[Kept] = ()) -> int:
        """Write events, the artifacts they name and the run's row in the index; return the last sequence number.

        Raises:
            LedgerCorruptError: Events of the run are missing at its end.
            LedgerSealError: The run is not sealed with this key.
        """
        check_end(self.database, head.run, head.seq, head.link, head.standing, self.key)
        if not drafts:
            return head.seq
        rows, events = chained(drafts, head.seq, head.link)
        run_id, seq, link = head.run_id, rows[-1].seq, rows[-1].link
        stored = [(run_id, *stored_row(row)) for row in rows]
        db.executemany("INSERT INTO ledger_events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", stored)
        standing = standing_after(seq, link, self.key)
        db.execute("UPDATE ledger_runs SET events = ?, key = ?, seal = ? WHERE id = ?", (*standing, run_id))
        if kept := [(value.artifact.id, value.text) for value in artifacts if value.artifact]:
            db.executemany("INSERT OR IGNORE INTO ledger_artifacts VALUES (?, ?)", kept)
        note_uses(db, run_id, artifacts_in(rows, events))
        note_effects(db, run_id, effects_in(events))
        self.index.add(db, run_id, head.link, events, link)
        return seq
