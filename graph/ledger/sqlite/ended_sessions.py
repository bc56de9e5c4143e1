"""Ended sessions in an SQLite file; see `graph.ledger.ended_sessions`."""

import sqlite3
from dataclasses import dataclass

from planner_executor.graph.ledger.sqlite.database import Database

_TABLE = "CREATE TABLE IF NOT EXISTS desk_ended_sessions (id TEXT PRIMARY KEY, until REAL NOT NULL) WITHOUT ROWID"
_IS_THERE = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'desk_ended_sessions'"


@dataclass(frozen=True)
class SqliteEndedSessions:
    """See `graph.ledger.ended_sessions.EndedSessions`."""

    file: Database

    async def add(self, session: str, until: float, now: float) -> None:
        """Keep a session, and drop those whose time is over."""

        def write(db: sqlite3.Connection) -> None:
            db.execute(_TABLE)
            db.execute("DELETE FROM desk_ended_sessions WHERE until < ?", (now,))
            db.execute("INSERT OR REPLACE INTO desk_ended_sessions VALUES (?, ?)", (session, until))

        await self.file.do(write, full=True)

    async def has(self, session: str) -> bool:
        """Whether a session was ended."""

        def read(db: sqlite3.Connection) -> bool:
            if db.execute(_IS_THERE).fetchone() is None:
                return False
            return db.execute("SELECT 1 FROM desk_ended_sessions WHERE id = ?", (session,)).fetchone() is not None

        return await self.file.look(read)
