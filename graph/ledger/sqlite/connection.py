"""A connection to a ledger's file, in the words of the tables; used on one thread at a time."""

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from planner_executor.graph.ledger.chain import Row
from planner_executor.graph.ledger.sqlite.history_table import add_samples, history
from planner_executor.graph.ledger.sqlite.packed_payload import payload_text, stored_payload, unpacked
from planner_executor.graph.ledger.sqlite.reading_connection import ReadingConnection
from planner_executor.graph.ledger.tables.dialect import STATEMENTS, in_sqlite
from planner_executor.graph.record.sample import Sample, Samples


class Connection(ReadingConnection):
    """A connection that is `graph.ledger.tables.transaction.Transaction` too: it has one transaction at a time."""

    def __init__(self, path: str, timeout: float = 5.0, *, check_same_thread: bool = True) -> None:
        super().__init__(path, timeout, check_same_thread=check_same_thread)
        self.create_function("unpacked", 1, unpacked, deterministic=True)
        self.create_function("clock", 0, time.time)

    def tell(self, statement: str, *values: Any) -> int:
        """Execute a statement, and return how many rows it changed."""
        return self.execute(in_sqlite(statement), values).rowcount

    def tell_rows(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        """Execute a statement for each of many rows."""
        if rows:
            self.executemany(_for_a_row(statement, len(rows[0])), rows)

    def script(self, statements: str) -> None:
        """Execute statements within the transaction that is open, which `executescript` would commit."""
        for statement in filter(str.strip, in_sqlite(statements).split(";")):
            self.execute(statement)

    def on_server(self, statement: str, *values: Any) -> None:
        """Do nothing: whoever writes holds the file's lock."""

    def many(self, values: Iterable[object]) -> str:
        """Return several values as the JSON that `AMONG` reads."""
        return json.dumps(list(values))

    def now(self) -> float:
        """Return the time of this machine."""
        return time.time()

    def stored_payload(self, kind: str, text: str) -> str | bytes:
        """Return the payload of an event as it is stored."""
        return stored_payload(kind, text)

    def read_rows(self, found: Iterable[Sequence[Any]]) -> Iterator[Row]:
        """Yield stored rows of events, their payloads as text."""
        for row in map(Row._make, found):
            yield row if type(row.payload) is str else row._replace(payload=payload_text(row.kind, row.payload))

    def share(self, _run_id: int) -> tuple[()]:
        """Return nothing: a count has one row."""
        return ()

    def add_samples(self, _run_id: int, samples: Samples) -> None:
        """Add what the steps of a run took that has ended."""
        add_samples(self, samples)

    def samples(self, likenesses: Sequence[str]) -> dict[str, list[Sample]]:
        """Return what steps of these likenesses took, the latest first."""
        return history(self, likenesses)

    def wrote(self, run_id: int) -> None:
        """Do nothing: a file tells nobody of what is written."""


@lru_cache(STATEMENTS)
def _for_a_row(statement: str, width: int) -> str:
    return in_sqlite(statement).format(f"({', '.join('?' * width)})")
