"""Deliveries of notices; see `graph.ledger.outbox`. The clock is that of the database."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from planner_executor.graph.ledger.outbox import Delivery
from planner_executor.graph.ledger.tables.dialect import AMONG, INT, LATER, NAME, NOW, OF_RUN, REAL, STAMP, either
from planner_executor.graph.ledger.tables.transaction import Database, Transaction

TABLES = f"""
CREATE TABLE IF NOT EXISTS ledger_notices (
    run {OF_RUN},
    kind {NAME} NOT NULL,
    since {REAL} NOT NULL,
    address {NAME} NOT NULL,
    status {NAME} NOT NULL,
    asks {NAME} NOT NULL,
    tries {INT} NOT NULL DEFAULT 0,
    due_at {STAMP},
    delivered {either("INTEGER NOT NULL DEFAULT 0", "boolean NOT NULL DEFAULT false")},
    failure {NAME},
    PRIMARY KEY (run, kind, since, address)
);
CREATE INDEX IF NOT EXISTS ledger_notices_due ON ledger_notices (due_at) WHERE due_at IS NOT NULL;
CREATE TABLE IF NOT EXISTS ledger_noticed (position {NAME} NOT NULL);
"""
"""Deliveries of notices, and the position looked at last. A delivery without a further try has no `due_at`: it arrived,
was given up after a failure, or was dropped, not delivered and without one."""

_OF = "run = (SELECT id FROM ledger_runs WHERE thread = %s AND n = %s) AND kind = %s AND since = %s AND address = %s"
_ADD = (
    "INSERT INTO ledger_notices (run, kind, since, address, status, asks, due_at) "
    f"SELECT id, %s, %s, %s, %s, %s, {NOW} FROM ledger_runs WHERE thread = %s AND n = %s ON CONFLICT DO NOTHING"
)
# What another process is just taking is passed over, and not waited for.
_DUE = (
    "SELECT thread, n, kind, since, status, asks, address, tries FROM ledger_notices "
    f"JOIN ledger_runs ON ledger_runs.id = run WHERE due_at <= {NOW} AND address {AMONG} "
    f"ORDER BY due_at LIMIT %s {either('', 'FOR UPDATE OF ledger_notices SKIP LOCKED')}"
)
_HOLD = f"UPDATE ledger_notices SET due_at = {LATER} WHERE {_OF}"
_SETTLE = f"UPDATE ledger_notices SET tries = tries + 1, due_at = {LATER}, delivered = %s, failure = %s WHERE {_OF}"
_DROP = f"UPDATE ledger_notices SET due_at = NULL, failure = NULL WHERE {_OF}"
_GIVEN_UP = "SELECT count(*) FROM ledger_notices WHERE due_at IS NULL AND NOT delivered AND failure IS NOT NULL"


@dataclass(frozen=True)
class SqlOutbox:
    """See `graph.ledger.outbox.Outbox`."""

    database: Database

    async def looked_until(self) -> str | None:
        """Return the position up to which runs were looked at."""
        row = await self.database.look(lambda tx: tx.one("SELECT position FROM ledger_noticed"))
        return row[0] if row else None

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

        def take(tx: Transaction) -> list[Delivery]:
            found = [Delivery.of_row(row) for row in tx.ask(_DUE, tx.many(addresses), most)]
            for one in found:
                tx.tell(_HOLD, hold_s, *one.key)
            return found

        return await self.database.do(take)

    async def settle(self, delivery: Delivery, again_s: float | None, failure: str | None = None) -> None:
        """Note the outcome of a try."""
        await self.database.do(lambda tx: tx.tell(_SETTLE, again_s, failure is None, failure, *delivery.key))

    async def drop(self, delivery: Delivery) -> None:
        """Note that it is not sent any more."""
        await self.database.do(lambda tx: tx.tell(_DROP, *delivery.key))

    async def given_up(self) -> int:
        """Return the number of deliveries that were given up after a failure."""
        return await self.database.look(lambda tx: int(tx.ask(_GIVEN_UP)[0][0]))
