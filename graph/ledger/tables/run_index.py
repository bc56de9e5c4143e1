"""The index of runs: one row per run, written in the transaction of the events that it follows from."""

from collections.abc import Iterator, Sequence

from planner_executor.graph.ledger.folded_runs import FoldedRuns, IndexChange, RunFold
from planner_executor.graph.ledger.head import Head
from planner_executor.graph.ledger.index_row import WRITTEN, changed, stored
from planner_executor.graph.ledger.stored_counts import stored_counts
from planner_executor.graph.ledger.tables.dialect import either
from planner_executor.graph.ledger.tables.run_rows import read_rows
from planner_executor.graph.ledger.tables.schema import OF_THE_INDEX
from planner_executor.graph.ledger.tables.transaction import PATIENCE, Transaction
from planner_executor.graph.ledger.transcript import events_of
from planner_executor.graph.record.counters import Counts
from planner_executor.graph.record.events import Event
from planner_executor.graph.record.run_key import run_name
from planner_executor.graph.record.summary import RunSummary

_PUT = (
    f"INSERT INTO ledger_index (run, {', '.join(WRITTEN)}) VALUES (%s{', %s' * len(WRITTEN)}) "
    f"ON CONFLICT (run) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in WRITTEN)}"
)
_PUT_TAGS = "INSERT INTO ledger_tags (run, tag) VALUES {} ON CONFLICT DO NOTHING"
_SHARE = either("", ", share")
_COUNT = (
    f"INSERT INTO ledger_counters AS counted (name, labels, value{_SHARE}) VALUES {{}} "
    f"ON CONFLICT (name, labels{_SHARE}) DO UPDATE SET value = counted.value + excluded.value"
)


class RunIndex:
    """Keeps the index of one database; used within transactions, which lock the row of their run."""

    def __init__(self) -> None:
        self.folded = FoldedRuns()

    def add(self, tx: Transaction, head: Head, events: Sequence[Event], link: bytes) -> None:
        """Bring a run's row up to date with events that were just written after `head`; `link` is the last one's."""
        first = events[0].seq
        change, row = self.folded.apply(head.run_id, head.link, events, link, lambda: _earlier(tx, head, first))
        # A row that is not known to be stored as it was is written as a whole.
        if row is None or not _change(tx, head.run_id, row, change.row):
            put(tx, head.run_id, change.row)
        add_counts(tx, head.run_id, change.counts)
        tx.add_samples(head.run_id, change.samples)

    def forget(self, tx: Transaction, run_id: int) -> None:
        """Fold a run anew at its next event: earlier events have changed."""
        self.folded.forget(run_id)
        tx.tell("DELETE FROM ledger_tags WHERE run = %s", run_id)


def put(tx: Transaction, run_id: int, summary: RunSummary) -> None:
    """Write a run's row, and the rows by which its tags find it."""
    tx.tell(_PUT, run_id, *stored(summary))
    tx.tell_rows(_PUT_TAGS, [(run_id, tag) for tag in summary.tags])


def add_folded(tx: Transaction, run_id: int, whole: IndexChange) -> None:
    """Write what all events of a run bring."""
    put(tx, run_id, whole.row)
    add_counts(tx, run_id, whole.counts)
    tx.add_samples(run_id, whole.samples)


def _change(tx: Transaction, run_id: int, before: RunSummary, after: RunSummary) -> bool:
    """Write what changed in a run's row since `before` was written; return False if the whole row has to be."""
    if before.tags != after.tags:
        return False
    names = changed(before, after)
    columns = ", ".join(f"{name} = %s" for name in names)
    # A server answers with the commit alone: its None counts as a row that was there.
    return tx.tell(f"UPDATE ledger_index SET {columns} WHERE run = %s", *stored(after, names), run_id) != 0


def add_counts(tx: Transaction, run_id: int, counts: Counts) -> None:
    """Add to the counts over all runs."""
    # In one order, or two writers would wait for each other.
    tx.tell_rows(_COUNT, sorted((*count, *tx.share(run_id)) for count in stored_counts(counts)))


def rebuild(tx: Transaction) -> int:
    """Rebuild the whole index from the events, and return the number of runs; no event is written meanwhile."""
    tx.on_server(PATIENCE)
    tx.on_server("LOCK TABLE ledger_runs IN EXCLUSIVE MODE")
    for table in OF_THE_INDEX:
        tx.tell(f"DELETE FROM {table}")
    found = tx.ask("SELECT id, thread, n FROM ledger_runs ORDER BY id")
    for run_id, thread, n in found:
        add_folded(tx, run_id, RunFold(thread, n).apply(_events(tx, run_id)))
    carried = tx.ask("SELECT name, labels, value FROM ledger_carried ORDER BY name, labels")
    tx.tell_rows(_COUNT, [(*count, *tx.share(0)) for count in carried])
    return len(found)


def renew_rows(tx: Transaction) -> None:
    """Write all rows anew: in those of earlier versions something is missing, or counted otherwise."""
    for run_id, thread, n in tx.ask("SELECT id, thread, n FROM ledger_runs ORDER BY id"):
        put(tx, run_id, RunFold(thread, n).apply(_events(tx, run_id)).row)


def differences(tx: Transaction) -> Iterator[str]:
    """Yield the names of runs whose index row does not match their events."""
    for run_id, thread, n in tx.ask("SELECT id, thread, n FROM ledger_runs ORDER BY id"):
        expected = RunFold(thread, n).apply(_events(tx, run_id)).row
        row = tx.one(f"SELECT {', '.join(WRITTEN)} FROM ledger_index WHERE run = %s", run_id)
        tags = {tag for (tag,) in tx.ask("SELECT tag FROM ledger_tags WHERE run = %s", run_id)}
        if row is None or list(row) != stored(expected) or tags != set(expected.tags):
            yield run_name(thread, n)


def _earlier(tx: Transaction, head: Head, before_seq: int) -> RunFold:
    """Fold the events before that sequence number."""
    fold = RunFold(head.run.thread, head.run.n)
    if before_seq > 1:
        fold.apply(event for event in _events(tx, head.run_id) if event.seq < before_seq)
    return fold


def _events(tx: Transaction, run_id: int) -> Iterator[Event]:
    return events_of(read_rows(tx, run_id))
