"""Ended sessions in a PostgreSQL database; see `graph.ledger.ended_sessions`."""

from dataclasses import dataclass

from planner_executor.graph.ledger.postgres.database import Database
from planner_executor.graph.ledger.postgres.migration import SCHEMA_LOCK
from planner_executor.graph.ledger.postgres.transaction import Transaction

_TABLE = """CREATE TABLE IF NOT EXISTS desk_ended_sessions (
    id text COLLATE "C" PRIMARY KEY, until double precision NOT NULL)"""
_IS_THERE = "SELECT to_regclass('desk_ended_sessions') IS NOT NULL"


@dataclass(frozen=True)
class PostgresEndedSessions:
    """See `graph.ledger.ended_sessions.EndedSessions`."""

    database: Database

    async def add(self, session: str, until: float, now: float) -> None:
        """Keep a session, and drop those whose time is over."""

        def write(tx: Transaction) -> None:
            if not tx.ask(_IS_THERE)[0][0]:
                tx.tell("SELECT pg_advisory_xact_lock(%s)", SCHEMA_LOCK)
                tx.tell(_TABLE)
            tx.tell("DELETE FROM desk_ended_sessions WHERE until < %s", now)
            later = "ON CONFLICT (id) DO UPDATE SET until = excluded.until"
            tx.tell(f"INSERT INTO desk_ended_sessions VALUES (%s, %s) {later}", session, until)

        await self.database.do(write, full=True)

    async def has(self, session: str) -> bool:
        """Whether a session was ended."""

        def read(tx: Transaction) -> bool:
            if not tx.ask(_IS_THERE)[0][0]:
                return False
            return tx.one("SELECT 1 FROM desk_ended_sessions WHERE id = %s", session) is not None

        return await self.database.look(read)
