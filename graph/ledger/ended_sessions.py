"""Sessions of the review desk that were signed out of before their time, for all processes that share a database."""

from typing import Protocol


class EndedSessions(Protocol):
    """Ids of sessions, each kept until its cookie is too old anyway. Times are Unix seconds.

    The table is made by the first sign-out and is no part of the ledger's schema: a database without it has no ended
    session, and an older release leaves it alone (decision 102). `tests/ledger_contract/test_ended_sessions.py` checks
    every driver.
    """

    async def add(self, session: str, until: float, now: float) -> None:
        """Keep a session, and drop those whose time is over; survives a power cut."""

    async def has(self, session: str) -> bool:
        """Whether a session was ended."""
