"""Deliveries of notices in a PostgreSQL database; see `graph.ledger.outbox`. The clock is the server's."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from planner_executor.graph.ledger.outbox import Delivery
from planner_executor.graph.ledger.postgres.database import Database
from planner_executor.graph.ledger.postgres.transaction import Transaction

_OF = "run = (SELECT id FROM ledger_runs WHERE thread = %s AND n = %s) AND kind = %s AND since = %s AND address = %s"
_ADD = (
    "INSERT INTO ledger_notices (run, kind, since, address, status, asks, due_at) "
    "SELECT id, %s, %s, %s, %s, %s, clock_timestamp() FROM ledger_runs WHERE thread = %s AND n = %s "
    "ON CONFLICT DO NOTHING"
)
_CLAIM = """WITH due AS (
        SELECT run, kind, since, address FROM ledger_notices
        WHERE due_at <= clock_timestamp() AND address = ANY(%s) ORDER BY due_at LIMIT %s FOR UPDATE SKIP LOCKED
    ), held AS (
        UPDATE ledger_notices AS found SET due_at = clock_timestamp() + make_interval(secs => %s) FROM due
        WHERE (found.run, found.kind, found.since, found.address) = (due.run, due.kind, due.since, due.address)
        RETURNING found.*
    )
    SELECT thread, n, kind, since, status, asks, address, tries FROM held JOIN ledger_runs ON ledger_runs.id = run
    ORDER BY since"""


@dataclass(frozen=True)
class PostgresOutbox:
    """See `graph.ledger.outbox.Outbox`."""

    database: Database

    async def looked_until(self) -> str | None:
        """Return the position up to which runs were looked at."""

        def read(tx: Transaction) -> str | None:
            row = tx.one("SELECT position FROM ledger_noticed")
            return row[0] if row else None

        return await self.database.look(read)

    async def add(self, deliveries: Sequence[Delivery], position: str) -> None:
        """Add the deliveries that are not known yet, and note the position."""

        def write(tx: Transaction) -> None:
            for one in deliveries:
                about = (one.kind, one.since, one.address, one.status, json.dumps(one.asks))
                tx.tell(_ADD, *about, one.run.thread, one.run.n)
            tx.tell("DELETE FROM ledger_noticed")
            tx.tell("INSERT INTO ledger_noticed VALUES (%s)", position)

        await self.database.do(write)

    async def claim(self, addresses: Sequence[str], hold_s: float, most: int = 20) -> list[Delivery]:
        """Return due deliveries to these addresses, and hold them back."""
        rows = await self.database.do(lambda tx: tx.ask(_CLAIM, list(addresses), most, hold_s))
        return [Delivery.of_row(row) for row in rows]

    async def settle(self, delivery: Delivery, again_s: float | None, failure: str | None = None) -> None:
        """Note the outcome of a try."""
        due = "clock_timestamp() + make_interval(secs => %s)"
        query = f"UPDATE ledger_notices SET tries = tries + 1, due_at = {due}, delivered = %s, failure = %s WHERE {_OF}"
        await self.database.do(lambda tx: tx.tell(query, again_s, failure is None, failure, *delivery.key))

    async def drop(self, delivery: Delivery) -> None:
        """Note that it is not sent any more."""
        query = f"UPDATE ledger_notices SET due_at = NULL, failure = NULL WHERE {_OF}"
        await self.database.do(lambda tx: tx.tell(query, *delivery.key))

    async def given_up(self) -> int:
        """Return the number of deliveries that were given up after a failure."""
        query = "SELECT count(*) FROM ledger_notices WHERE due_at IS NULL AND NOT delivered AND failure IS NOT NULL"
        return await self.database.look(lambda tx: int(tx.ask(query)[0][0]))
