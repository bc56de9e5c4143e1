"""The index of runs: one row per run, written in the transaction of the events that it follows from."""

import json
from collections.abc import Iterable, Iterator, Sequence

from graph.ledger.folded_runs import FoldedRun, FoldedRuns
from graph.ledger.index_row import COLUMNS, SELECT, changed, stored
from graph.ledger.postgres.history_table import add_samples
from graph.ledger.postgres.queries import Head, read_rows
from graph.ledger.postgres.transaction import LONG, Transaction
from graph.ledger.transcript import event_of
from graph.record.counters import Counts, RunCounter
from graph.record.events import Event
from graph.record.run_state import run_name
from graph.record.step_history import samples_of
from graph.record.summary import RunSummary, Summarizer

_PUT = (
    f"INSERT INTO ledger_index (run, {', '.join(COLUMNS)}) VALUES (%s{', %s' * len(COLUMNS)}) "
    f"ON CONFLICT (run) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in COLUMNS)}"
)
_PUT_TAGS = "INSERT INTO ledger_tags (run, tag) VALUES {} ON CONFLICT DO NOTHING"
_COUNT = (
    "INSERT INTO ledger_counters AS counted (name, labels, share, value) VALUES {} "
    "ON CONFLICT (name, labels, share) DO UPDATE SET value = counted.value + excluded.value"
)
SHARES = 64
"""A count is spread over so many rows, by run: runs that end at the same time do not wait for each other."""


class RunIndex:
    """Keeps the index of one database; used within transactions, which lock the row of their run."""

    def __init__(self) -> None:
        self._folded = FoldedRuns()

    def add(self, tx: Transaction, head: Head, events: Sequence[Event], link: bytes) -> None:
        """Bring a run's row up to date with events that were just written after `head`; `link` is the last one's."""
        folded = self._folded.take(head.run_id, head.link) or _folded(tx, head, events[0].seq)
        summary = folded.summarizer.apply(events).summary
        if folded.row is None or folded.row.tags != summary.tags:
            put(tx, head.run_id, summary)
        else:
            _change(tx, head.run_id, folded.row, summary)
        add_counts(tx, head.run_id, folded.counter.count(events))
        add_samples(tx, head.run_id, folded.history.apply(events))
        folded.link, folded.row = link, summary
        self._folded.keep(head.run_id, folded)

    def forget(self, tx: Transaction, run_id: int) -> None:
        """Fold a run anew at its next event: earlier events have changed."""
        self._folded.forget(run_id)
        tx.tell("DELETE FROM ledger_tags WHERE run = %s", run_id)


def put(tx: Transaction, run_id: int, summary: RunSummary) -> None:
    """Write a run's row, and the rows by which its tags find it."""
    tx.tell(_PUT, run_id, *stored(summary))
    tx.tell_rows(_PUT_TAGS, [(run_id, tag) for tag in summary.tags])


def _change(tx: Transaction, run_id: int, before: RunSummary, after: RunSummary) -> None:
    """Write what changed in a run's row."""
    names = changed(before, after)
    columns = ", ".join(f"{name} = %s" for name in names)
    tx.tell(f"UPDATE ledger_index SET {columns} WHERE run = %s", *stored(after, names), run_id)


def add_counts(tx: Transaction, run_id: int, counts: Counts) -> None:
    """Add to the counts over all runs."""
    rows = [(name, json.dumps(labels), run_id % SHARES, float(count)) for (name, labels), count in counts.items()]
    tx.tell_rows(_COUNT, sorted(rows))  # in one order, or two writers would wait for each other


def counted(events: Iterable[Event]) -> list[tuple[str, str, float]]:
    """Return the counts of runs as they are stored: name, labels, value."""
    return [(name, json.dumps(labels), float(count)) for (name, labels), count in RunCounter().count(events).items()]


def rebuild(tx: Transaction) -> int:
    """Rebuild the whole index from the events, and return the number of runs; no event is written meanwhile."""
    tx.tell(LONG)
    tx.tell("LOCK TABLE ledger_runs IN EXCLUSIVE MODE")
    for table in ("ledger_index", "ledger_tags", "ledger_counters", "ledger_history"):
        tx.tell(f"DELETE FROM {table}")
    found = tx.ask("SELECT id, thread, n FROM ledger_runs ORDER BY id")
    for run_id, thread, n in found:
        events = list(_events(tx, run_id))
        put(tx, run_id, Summarizer(thread, n).apply(events).summary)
        add_counts(tx, run_id, RunCounter().count(events))
        add_samples(tx, run_id, samples_of(events))
    carried = tx.ask("SELECT name, labels, 0, value FROM ledger_carried ORDER BY name, labels")
    tx.tell_rows(_COUNT, carried)
    return len(found)


def renew_waiting(tx: Transaction) -> None:
    """Write the rows of runs that wait anew: an earlier version had no open request in them."""
    query = (
        "SELECT run, thread, n FROM ledger_index JOIN ledger_runs ON ledger_runs.id = run WHERE waits_for IS NOT NULL"
    )
    for run_id, thread, n in tx.ask(query):
        put(tx, run_id, Summarizer(thread, n).apply(_events(tx, run_id)).summary)


def differences(tx: Transaction) -> Iterator[str]:
    """Yield the names of runs whose index row does not match their events."""
    for run_id, thread, n in tx.ask("SELECT id, thread, n FROM ledger_runs ORDER BY id"):
        expected = Summarizer(thread, n).apply(_events(tx, run_id)).summary
        row = tx.one(f"{SELECT} WHERE run = %s", run_id)
        tags = {tag for (tag,) in tx.ask("SELECT tag FROM ledger_tags WHERE run = %s", run_id)}
        if row is None or not _is_row_of(row, expected) or tags != set(expected.tags):
            yield run_name(thread, n)


def _is_row_of(row: Sequence[object], expected: RunSummary) -> bool:
    return list(row[2:]) == stored(expected)


def _folded(tx: Transaction, head: Head, before_seq: int) -> FoldedRun:
    earlier = _events(tx, head.run_id) if before_seq > 1 else ()
    return FoldedRun.of(head.run.thread, head.run.n, earlier, before_seq)


def _events(tx: Transaction, run_id: int) -> Iterator[Event]:
    return (event for event in map(event_of, read_rows(tx, run_id)) if event is not None)
