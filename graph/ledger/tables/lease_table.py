"""Taking and giving back runs of a database."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from planner_executor.graph.ledger.head import Head
from planner_executor.graph.ledger.lease import Holder
from planner_executor.graph.ledger.protocol import Lease
from planner_executor.graph.ledger.replaced_owner import replacement
from planner_executor.graph.ledger.tables.event_writer import EventWriter
from planner_executor.graph.ledger.tables.known_leases import KnownLeases
from planner_executor.graph.ledger.tables.leases import claim, disown, release, take_over
from planner_executor.graph.ledger.tables.runs import head_of, locked
from planner_executor.graph.ledger.tables.transaction import Database, Transaction
from planner_executor.graph.record.run_key import RunKey

T = TypeVar("T")
Untaken = TypeVar("Untaken", bound=Holder | None)


@dataclass(frozen=True)
class SqlLeaseTable:
    """See `graph.ledger.ownership.LeaseTable`."""

    file: Database

    async def release(self, lease: Lease) -> None:
        """Give a run back."""
        await self.file.do(lambda tx: release(tx, locked(tx, self.file.name, lease.run), lease.token), lease.run.thread)

    async def disown(self, owner: str) -> None:
        """Release every run of an owner that never received its token."""
        await self.file.do_behind_all(lambda tx: disown(tx, owner))


@dataclass(frozen=True)
class SqlAttempt(Generic[T]):
    """See `graph.ledger.ownership.Attempt`; `read` is done in the transaction that takes the run."""

    file: Database
    run: RunKey
    writer: EventWriter
    read: Callable[[Transaction, Head, Lease], T]
    known: KnownLeases
    lease_s: float
    full: bool = False

    async def claim(self, owner: str) -> tuple[Lease, T] | Holder:
        """Take the run, or return its current row."""
        return await self._take(owner, lambda tx, head: claim(tx, head, owner, self.lease_s))

    async def take_over(self, owner: str, seen: Holder) -> tuple[Lease, T] | None:
        """Take the run if its row is as it was seen."""
        return await self._take(owner, lambda tx, head: take_over(tx, head, owner, seen))

    async def look(self) -> Holder | None:
        """Return the run's row."""
        return await self.file.look(lambda tx: head_of(tx, self.file.name, self.run).holder, self.run.thread)

    async def _take(
        self, owner: str, take: Callable[[Transaction, Head], Lease | Untaken]
    ) -> tuple[Lease, T] | Untaken:
        def do(tx: Transaction) -> tuple[Lease, T] | Untaken:
            left = locked(tx, self.file.name, self.run)
            lease = take(tx, left)
            if not isinstance(lease, Lease):
                return lease
            # The event that names the former owner comes first, so that the new one reads it.
            return lease, self.read(tx, self.writer.write(tx, left, replacement(left.holder)), lease)

        found = await self.file.do(do, self.run.thread, full=self.full)
        if found is not None and not isinstance(found, Holder):
            self.known.add(found[0], owner)
        return found
