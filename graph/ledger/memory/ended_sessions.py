"""Ended sessions in memory; see `graph.ledger.ended_sessions`."""

from dataclasses import dataclass, field


@dataclass
class MemoryEndedSessions:
    """See `graph.ledger.ended_sessions.EndedSessions`."""

    until: dict[str, float] = field(default_factory=dict)

    async def add(self, session: str, until: float, now: float) -> None:
        """Keep a session, and drop those whose time is over."""
        self.until = {name: end for name, end in self.until.items() if end >= now} | {session: until}

    async def has(self, session: str) -> bool:
        """Whether a session was ended."""
        return session in self.until
