"""The index of runs: one row per run, written in the transaction of the events that it follows from."""

import json
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields

from graph.ledger.postgres.history_table import add_samples
from graph.ledger.postgres.queries import Head, read_rows
from graph.ledger.postgres.transaction import LONG, Transaction
from graph.ledger.transcript import event_of
from graph.record.counters import Counts, RunCounter
from graph.record.events import Event
from graph.record.open_review import OpenReview
from graph.record.run_state import run_name
from graph.record.step_history import StepHistory, samples_of
from graph.record.summary import RunSummary, Summarizer

COLUMNS = tuple(entry.name for entry in fields(RunSummary) if entry.name not in ("thread", "n"))
LISTS = ("asks", "people", "tags")

_PUT = (
    f"INSERT INTO ledger_index (run, {', '.join(COLUMNS)}) VALUES (%s{', %s' * len(COLUMNS)}) "
    f"ON CONFLICT (run) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in COLUMNS)}"
)
_PUT_TAGS = "INSERT INTO ledger_tags (run, tag) VALUES {} ON CONFLICT DO NOTHING"
_COUNT = (
    "INSERT INTO ledger_counters AS counted (name, labels, share, value) VALUES {} "
    "ON CONFLICT (name, labels, share) DO UPDATE SET value = counted.value + excluded.value"
)
SELECT = (
    f"SELECT thread, n, {', '.join(COLUMNS)} FROM ledger_index JOIN ledger_runs ON ledger_runs.id = ledger_index.run"
)

FOLDED = 4_096
"""So many runs are kept folded in memory: those that were written to last."""
SHARES = 64
"""A count is spread over so many rows, by run: runs that end at the same time do not wait for each other."""


@dataclass
class _Folded:
    """A run as far as it was folded; `link` is the hash of the last event that was, `row` the row written then."""

    summarizer: Summarizer
    counter: RunCounter = field(default_factory=RunCounter)
    history: StepHistory = field(default_factory=StepHistory)
    link: bytes = b""
    row: RunSummary | None = None


class RunIndex:
    """Keeps the index of one database; used within transactions, which lock the row of their run.

    What was folded stays in memory, so that an event costs no look at those before it. A transaction that was rolled
    back, and another process's events, show in the hash of the run's last event: the run is then folded anew.
    """

    def __init__(self) -> None:
        self._folded: OrderedDict[int, _Folded] = OrderedDict()

    def add(self, tx: Transaction, head: Head, events: Sequence[Event], link: bytes) -> None:
        """Bring a run's row up to date with events that were just written after `head`; `link` is the last one's."""
        folded = self._folded.pop(head.run_id, None)
        if folded is None or folded.link != head.link:
            folded = _folded(tx, head, events[0].seq)
        summary = folded.summarizer.apply(events).summary
        if folded.row is None or folded.row.tags != summary.tags:
            put(tx, head.run_id, summary)
        else:
            _change(tx, head.run_id, folded.row, summary)
        add_counts(tx, head.run_id, folded.counter.count(events))
        add_samples(tx, head.run_id, folded.history.apply(events))
        folded.link, folded.row = link, summary
        self._keep(head.run_id, folded)

    def forget(self, tx: Transaction, run_id: int) -> None:
        """Fold a run anew at its next event: earlier events have changed."""
        self._folded.pop(run_id, None)
        tx.tell("DELETE FROM ledger_tags WHERE run = %s", run_id)

    def _keep(self, run_id: int, folded: _Folded) -> None:
        self._folded[run_id] = folded
        while len(self._folded) > FOLDED:
            self._folded.popitem(last=False)


def put(tx: Transaction, run_id: int, summary: RunSummary) -> None:
    """Write a run's row, and the rows by which its tags find it."""
    tx.tell(_PUT, run_id, *_stored(summary, COLUMNS))
    tx.tell_rows(_PUT_TAGS, [(run_id, tag) for tag in summary.tags])


def _change(tx: Transaction, run_id: int, before: RunSummary, after: RunSummary) -> None:
    """Write what changed in a run's row."""
    changed = [name for name in COLUMNS if getattr(before, name) != getattr(after, name)]
    tx.tell(
        f"UPDATE ledger_index SET {', '.join(f'{name} = %s' for name in changed)} WHERE run = %s",
        *_stored(after, changed),
        run_id,
    )


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


def read(row: Sequence[object]) -> RunSummary:
    """Return the summary in a row that `SELECT` gave."""
    values: dict[str, object] = dict(zip(("thread", "n", *COLUMNS), row, strict=False))
    lists: Mapping[str, object] = {name: tuple(json.loads(str(values[name]))) for name in LISTS}
    review = OpenReview.from_text(str(values["review"])) if values["review"] is not None else None
    return RunSummary(**{**values, **lists, "review": review})  # type: ignore[arg-type]


def _is_row_of(row: Sequence[object], expected: RunSummary) -> bool:
    return list(row[2:]) == _stored(expected, COLUMNS)


def _stored(summary: RunSummary, names: Sequence[str]) -> list[object]:
    """Return the columns of these names as they are stored."""
    return [_cell(getattr(summary, name)) for name in names]


def _cell(value: object) -> object:
    if isinstance(value, OpenReview):
        return value.to_text()
    return json.dumps(value, ensure_ascii=False) if isinstance(value, tuple) else value


def _folded(tx: Transaction, head: Head, before_seq: int) -> _Folded:
    """Fold a run's events before that sequence number."""
    folded = _Folded(Summarizer(head.run.thread, head.run.n))
    if before_seq > 1:
        earlier = [event for event in _events(tx, head.run_id) if event.seq < before_seq]
        folded.summarizer.apply(earlier)
        folded.counter.count(earlier)
        folded.history.apply(earlier)
    return folded


def _events(tx: Transaction, run_id: int) -> Iterator[Event]:
    return (event for event in map(event_of, read_rows(tx, run_id)) if event is not None)
