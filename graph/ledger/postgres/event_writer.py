"""Writing events: rows, artifacts, seal and index, in one transaction."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from planner_executor.graph.ledger.chaining import chained, of_run
from planner_executor.graph.ledger.family import effects_in, source_of
from planner_executor.graph.ledger.head import Head
from planner_executor.graph.ledger.postgres.artifact_uses import note_uses
from planner_executor.graph.ledger.postgres.family_table import lock_families, note_effects, put_family
from planner_executor.graph.ledger.postgres.queries import NEXT_NUMBER, head_of
from planner_executor.graph.ledger.postgres.run_index import RunIndex
from planner_executor.graph.ledger.postgres.transaction import Transaction
from planner_executor.graph.ledger.protocol import RunKey
from planner_executor.graph.ledger.refusals import check_end, standing_after
from planner_executor.graph.ledger.seal import SealKey
from planner_executor.graph.ledger.tombstone import thread_digest
from planner_executor.graph.ledger.transcript import artifacts_in
from planner_executor.graph.record.events import CONTROL, Draft
from planner_executor.graph.record.values import Kept

OPEN = f"INSERT INTO ledger_runs (thread, n) SELECT %s, {NEXT_NUMBER} ON CONFLICT DO NOTHING RETURNING n, id"
PUT_EVENTS = "INSERT INTO ledger_events (run, seq, kind, step, at, payload, salt, digest, link) VALUES {}"
PUT_ARTIFACTS = "INSERT INTO ledger_artifacts (id, content) VALUES {} ON CONFLICT DO NOTHING"


@dataclass(frozen=True)
class EventWriter:
    """Writes events of any run of one database, which `database` names in messages; runs are sealed with `key`."""

    database: str
    key: SealKey | None
    index: RunIndex = field(default_factory=RunIndex)

    def open_run(self, tx: Transaction, thread: str, drafts: Sequence[Draft], artifacts: Sequence[Kept]) -> Head:
        """Start the thread's next run with its first events, and return it as it was before them."""
        source = source_of(drafts)
        lock_families(tx, alone=source is not None)
        while not (opened := tx.one(OPEN, thread, thread, thread_digest(thread))):
            pass  # another process has just opened a run of that number
        run = RunKey(thread, opened[0])
        put_family(tx, opened[1], run, source)
        head = head_of(tx, self.database, run)
        self.write(tx, head, of_run(run, drafts), artifacts)
        return head

    def write(self, tx: Transaction, head: Head, drafts: Sequence[Draft], artifacts: Sequence[Kept] = ()) -> Head:
        """Write events, the artifacts they name and the run's row in the index; return the run as it is then.

        Raises:
            LedgerCorruptError: Events of the run are missing at its end.
            LedgerSealError: The run is not sealed with this key.
        """
        check_end(self.database, head.run, head.seq, head.link, head.standing, self.key)
        if not drafts:
            return head
        tx.changed.add(head.run_id)
        rows, events = chained(drafts, head.seq, head.link)
        seq, link = rows[-1].seq, rows[-1].link
        tx.tell_rows(PUT_EVENTS, [(head.run_id, *row) for row in rows])
        standing = standing_after(seq, link, self.key)
        tx.tell("UPDATE ledger_runs SET events = %s, key = %s, seal = %s WHERE id = %s", *standing, head.run_id)
        kept = {value.artifact.id: value.text for value in artifacts if value.artifact}
        tx.tell_rows(PUT_ARTIFACTS, sorted(kept.items()))  # in one order, or two writers would wait for each other
        note_uses(tx, head.run_id, artifacts_in(rows, events))
        note_effects(tx, head.run_id, effects_in(events))
        self.index.add(tx, head, events, link)
        control_seq = max((row.seq for row in rows if row.kind in CONTROL), default=head.control_seq)
        return head._replace(standing=standing, seq=seq, link=link, control_seq=control_seq)
