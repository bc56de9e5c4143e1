"""Ended sessions of the review desk; see `graph.ledger.ended_sessions`."""

from dataclasses import dataclass

from planner_executor.graph.ledger.tables.dialect import BY_KEY, IS_THERE, NAME, REAL
from planner_executor.graph.ledger.tables.locks import MAKING, lock
from planner_executor.graph.ledger.tables.transaction import Database, Transaction

NAMED = "desk_ended_sessions"
_TABLE = f"CREATE TABLE IF NOT EXISTS {NAMED} (id {NAME} PRIMARY KEY, until {REAL} NOT NULL){BY_KEY}"
_PUT = f"INSERT INTO {NAMED} VALUES (%s, %s) ON CONFLICT (id) DO UPDATE SET until = excluded.until"


@dataclass(frozen=True)
class SqlEndedSessions:
    """See `graph.ledger.ended_sessions.EndedSessions`."""

    database: Database

    async def add(self, session: str, until: float, now: float) -> None:
        """Keep a session, and drop those whose time is over."""

        def write(tx: Transaction) -> None:
            # On a server `IF NOT EXISTS` fails in one of two transactions that make a table at once, hence the lock.
            if not tx.one(IS_THERE, NAMED):
                lock(tx, MAKING)
                tx.tell(_TABLE)
            tx.tell(f"DELETE FROM {NAMED} WHERE until < %s", now)
            tx.tell(_PUT, session, until)

        await self.database.do(write, full=True)

    async def has(self, session: str) -> bool:
        """Whether a session was ended."""
        query = f"SELECT 1 FROM {NAMED} WHERE id = %s"
        found = await self.database.look(lambda tx: tx.one(IS_THERE, NAMED) and tx.one(query, session))
        return found is not None
