"""Taking and giving back runs in memory."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from planner_executor.graph.ledger.lease import Holder, claimed, taken_over
from planner_executor.graph.ledger.memory.store import Store, StoredRun
from planner_executor.graph.ledger.protocol import Lease
from planner_executor.graph.ledger.replaced_owner import replacement
from planner_executor.graph.record.events import Draft
from planner_executor.graph.record.run_key import RunKey

T = TypeVar("T")
Found = TypeVar("Found")


class Do(Protocol):
    """Does work on the store, atomically."""

    async def __call__(self, work: Callable[[], Found]) -> Found:
        """Return what the work returns."""


@dataclass(frozen=True)
class MemoryLeaseTable:
    """See `graph.ledger.ownership.LeaseTable`."""

    store: Store

    async def release(self, lease: Lease) -> None:
        """Give a run back."""
        with self.store.lock:
            if (stored := self.store.find(lease.run)) is not None:
                stored.release(lease.token)

    async def disown(self, owner: str) -> None:
        """Release every run of an owner that never received its token."""
        with self.store.lock:
            for stored in self.store.runs:
                if stored.holder is not None and stored.holder.owner == owner:
                    stored.release(stored.holder.token)


@dataclass(frozen=True)
class MemoryAttempt(Generic[T]):
    """See `graph.ledger.ownership.Attempt`; `read` is done in the transaction that takes the run, or nothing is."""

    store: Store
    run: RunKey
    read: Callable[[StoredRun], T]
    write: Callable[[StoredRun, Sequence[Draft]], object]
    beat_s: float
    do: Do

    async def claim(self, owner: str) -> tuple[Lease, T] | Holder:
        """Take the run, or return its current row."""

        def work() -> tuple[Lease, T] | Holder:
            stored = self._stored()
            now = stored.look()
            row = claimed(now, owner)
            if row is None:
                assert now is not None
                return now
            return self._taken(stored, row)

        return await self.do(work)

    async def take_over(self, owner: str, seen: Holder) -> tuple[Lease, T] | None:
        """Take the run if its row is as it was seen."""

        def work() -> tuple[Lease, T] | None:
            stored = self._stored()
            row = taken_over(stored.look(), seen, owner)
            if row is None:
                return None
            self.write(stored, replacement(stored.holder))
            return self._taken(stored, row)

        return await self.do(work)

    async def look(self) -> Holder | None:
        """Return the run's row."""
        return await self.do(lambda: self._stored().look())

    def _stored(self) -> StoredRun:
        return self.store.run(":memory:", self.run)

    def _taken(self, stored: StoredRun, row: Holder) -> tuple[Lease, T]:
        # Before the row is written: a reader that fails takes nothing.
        read = self.read(stored)
        return stored.hold(row, self.beat_s), read
