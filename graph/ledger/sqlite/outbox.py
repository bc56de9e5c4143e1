"""Deliveries of notices in an SQLite file; see `graph.ledger.outbox`. The clock is that of the process."""

import json
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass

from planner_executor.graph.ledger.outbox import Delivery
from planner_executor.graph.ledger.sqlite.database import Database

_OF = "run = (SELECT id FROM ledger_runs WHERE thread = ? AND n = ?) AND kind = ? AND since = ? AND address = ?"
_ADD = (
    "INSERT OR IGNORE INTO ledger_notices (run, kind, since, address, status, asks, due_at) "
    "SELECT id, ?, ?, ?, ?, ?, ? FROM ledger_runs WHERE thread = ? AND n = ?"
)


@dataclass(frozen=True)
class SqliteOutbox:
    """See `graph.ledger.outbox.Outbox`."""

    file: Database

    async def looked_until(self) -> str | None:
        """Return the position up to which runs were looked at."""

        def read(db: sqlite3.Connection) -> str | None:
            row = db.execute("SELECT position FROM ledger_noticed").fetchone()
            return row[0] if row else None

        return await self.file.look(read)

    async def add(self, deliveries: Sequence[Delivery], position: str) -> None:
        """Add the deliveries that are not known yet, and note the position."""
        now = time.time()
        rows = [
            (one.kind, one.since, one.address, one.status, json.dumps(one.asks), now, one.run.thread, one.run.n)
            for one in deliveries
        ]

        def write(db: sqlite3.Connection) -> None:
            db.executemany(_ADD, rows)
            db.execute("DELETE FROM ledger_noticed")
            db.execute("INSERT INTO ledger_noticed VALUES (?)", (position,))

        await self.file.do(write)

    async def claim(self, addresses: Sequence[str], hold_s: float, most: int = 20) -> list[Delivery]:
        """Return due deliveries to these addresses, and hold them back."""
        now, marks = time.time(), ", ".join("?" * len(addresses))
        query = (
            "SELECT ledger_notices.rowid, thread, n, kind, since, status, asks, address, tries FROM ledger_notices "
            f"JOIN ledger_runs ON ledger_runs.id = run WHERE due_at <= ? AND address IN ({marks}) "
            "ORDER BY due_at LIMIT ?"
        )

        def take(db: sqlite3.Connection) -> list[Delivery]:
            rows = db.execute(query, (now, *addresses, most)).fetchall()
            held = [(now + hold_s, row[0]) for row in rows]
            db.executemany("UPDATE ledger_notices SET due_at = ? WHERE rowid = ?", held)
            return [Delivery.of_row(row) for _, *row in rows]

        return await self.file.do(take)

    async def settle(self, delivery: Delivery, again_s: float | None, failure: str | None = None) -> None:
        """Note the outcome of a try."""
        due_at = None if again_s is None else time.time() + again_s
        query = f"UPDATE ledger_notices SET tries = tries + 1, due_at = ?, delivered = ?, failure = ? WHERE {_OF}"
        await self.file.do(lambda db: db.execute(query, (due_at, failure is None, failure, *delivery.key)))

    async def drop(self, delivery: Delivery) -> None:
        """Note that it is not sent any more."""
        query = f"UPDATE ledger_notices SET due_at = NULL, failure = NULL WHERE {_OF}"
        await self.file.do(lambda db: db.execute(query, delivery.key))

    async def given_up(self) -> int:
        """Return the number of deliveries that were given up after a failure."""
        query = "SELECT count(*) FROM ledger_notices WHERE due_at IS NULL AND NOT delivered AND failure IS NOT NULL"
        return await self.file.look(lambda db: int(db.execute(query).fetchone()[0]))
