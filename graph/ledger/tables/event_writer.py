"""Writing events: rows, artifacts, seal and index, in one transaction."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from planner_executor.graph.ledger.chain import COLUMNS, Row
from planner_executor.graph.ledger.chaining import chained, of_run
from planner_executor.graph.ledger.family import effects_in, source_of
from planner_executor.graph.ledger.head import Head
from planner_executor.graph.ledger.refusals import check_end
from planner_executor.graph.ledger.seal import SealKey, standing_after
from planner_executor.graph.ledger.tables.families import lock_families, note_effects, put_family
from planner_executor.graph.ledger.tables.run_index import RunIndex
from planner_executor.graph.ledger.tables.runs import head_of, open_row
from planner_executor.graph.ledger.tables.transaction import Transaction
from planner_executor.graph.ledger.tables.uses import note_uses
from planner_executor.graph.ledger.transcript import artifacts_in
from planner_executor.graph.record.events import CONTROL, Draft
from planner_executor.graph.record.values import Kept

_PUT_EVENTS = f"INSERT INTO ledger_events (run, {COLUMNS}) VALUES {{}}"
_PUT_ARTIFACTS = "INSERT INTO ledger_artifacts (id, content) VALUES {} ON CONFLICT DO NOTHING"
_PUT_STANDING = "UPDATE ledger_runs SET events = %s, key = %s, seal = %s WHERE id = %s"


@dataclass(frozen=True)
class EventWriter:
    """Writes events of any run of one database, which `database` names in messages; runs are sealed with `key`."""

    database: str
    key: SealKey | None
    index: RunIndex = field(default_factory=RunIndex)

    def open_run(self, tx: Transaction, thread: str, drafts: Sequence[Draft], artifacts: Sequence[Kept]) -> Head:
        """Start the thread's next run with its first events, and return it."""
        source = source_of(drafts)
        lock_families(tx, alone=source is not None)
        run, run_id = open_row(tx, thread)
        put_family(tx, run_id, run, source)
        head = head_of(tx, self.database, run)
        return self.write(tx, head, of_run(self.database, run, drafts), artifacts)

    def write(self, tx: Transaction, head: Head, drafts: Sequence[Draft], artifacts: Sequence[Kept] = ()) -> Head:
        """Write events, the artifacts they name and the run's row in the index; return the run as it is then.

        Raises:
            LedgerCorruptError: Events of the run are missing at its end.
            LedgerSealError: The run is not sealed with this key.
        """
        check_end(self.database, head.run, head.seq, head.link, head.standing, self.key)
        if not drafts:
            return head
        rows, events = chained(drafts, head.seq, head.link)
        seq, link = rows[-1].seq, rows[-1].link
        put_rows(tx, head.run_id, rows)
        standing = standing_after(seq, link, self.key)
        tx.tell(_PUT_STANDING, *standing, head.run_id)
        put_artifacts(tx, [(value.artifact.id, value.text) for value in artifacts if value.artifact])
        note_uses(tx, head.run_id, artifacts_in(rows, events))
        note_effects(tx, head.run_id, effects_in(events))
        self.index.add(tx, head, events, link)
        control_seq = max((row.seq for row in rows if row.kind in CONTROL), default=head.control_seq)
        return head._replace(standing=standing, seq=seq, link=link, control_seq=control_seq)


def put_rows(tx: Transaction, run_id: int, rows: Sequence[Row]) -> None:
    """Store rows of events."""
    tx.wrote(run_id)
    tx.tell_rows(_PUT_EVENTS, [(run_id, *row[:4], tx.stored_payload(row.kind, row.payload), *row[5:]) for row in rows])


def put_artifacts(tx: Transaction, kept: Sequence[tuple[str, str]]) -> None:
    """Store artifacts, each with its id; in one order, or two writers would wait for each other."""
    tx.tell_rows(_PUT_ARTIFACTS, sorted(kept))
