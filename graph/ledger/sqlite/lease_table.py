"""Taking and giving back runs of a database, and the heartbeat."""

import sqlite3
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from planner_executor.graph.ledger.lease import Holder
from planner_executor.graph.ledger.owner import replacement
from planner_executor.graph.ledger.protocol import Lease, RunKey
from planner_executor.graph.ledger.sqlite.database import Database
from planner_executor.graph.ledger.sqlite.event_writer import EventWriter
from planner_executor.graph.ledger.sqlite.lease import beat, claim, disown, look, release, take_over
from planner_executor.graph.ledger.sqlite.queries import head_of, run_id_of
from planner_executor.graph.ledger.sqlite.writer import Pulse

T = TypeVar("T")


def beats_of(held: Collection[Lease]) -> Pulse:
    """Return the heartbeat of the leases held; it refers to the collection, not to the ledger that owns it."""
    return lambda: [partial(beat, leases=tuple(held))] if held else []


@dataclass(frozen=True)
class SqliteLeaseTable:
    """See `graph.ledger.ownership.LeaseTable`."""

    file: Database

    async def release(self, lease: Lease) -> None:
        """Give a run back."""
        await self.file.do(partial(release, lease=lease))

    async def disown(self, owner: str) -> None:
        """Release every run of an owner that never received its token."""
        await self.file.do(partial(disown, owner=owner))


@dataclass(frozen=True)
class SqliteAttempt(Generic[T]):
    """See `graph.ledger.ownership.Attempt`; `read` is done in the transaction that takes the run."""

    file: Database
    run: RunKey
    writer: EventWriter
    read: Callable[[sqlite3.Connection, Lease], T]
    full: bool = False

    async def claim(self, owner: str) -> tuple[Lease, T] | Holder:
        """Take the run, or return its current row."""

        def do(db: sqlite3.Connection) -> tuple[Lease, T] | Holder:
            lease = claim(db, self.run, run_id_of(db, self.run), owner)
            return lease if isinstance(lease, Holder) else (lease, self.read(db, lease))

        return await self.file.do(do, full=self.full)

    async def take_over(self, owner: str, seen: Holder) -> tuple[Lease, T] | None:
        """Take the run if its row is as it was seen."""

        def do(db: sqlite3.Connection) -> tuple[Lease, T] | None:
            run_id = run_id_of(db, self.run)
            left = look(db, run_id)
            lease = take_over(db, self.run, run_id, owner, seen)
            if lease is None:
                return None
            self.writer.write(db, head_of(db, self.run, run_id), replacement(left))
            return lease, self.read(db, lease)

        return await self.file.do(do, full=self.full)

    async def look(self) -> Holder | None:
        """Return the run's row."""
        return await self.file.look(lambda db: look(db, run_id_of(db, self.run)))
