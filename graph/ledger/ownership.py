"""Acquiring, awaiting, holding and releasing a lease, for every driver.

A caller may be cancelled at any time while its claim still commits, so a cancelled claim is always followed by a
release. See `docs/decisions/0009-lease.md`.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from functools import partial
from typing import Protocol, TypeVar

from planner_executor.graph.errors import LedgerError, RunOwnedError
from planner_executor.graph.ledger.lease import Holder, Pace, Watch
from planner_executor.graph.ledger.owner import is_gone, named_owner, retire
from planner_executor.graph.ledger.proof import CLOCK, Clock, now_s, still_counts
from planner_executor.graph.ledger.protocol import Lease, Proof
from planner_executor.graph.record.run_key import RunKey

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
Held = dict[Lease, float | None]


class Attempt(Protocol[T_co]):
    """A driver's operations to acquire one run, each one transaction; `T` is the data read in the same transaction."""

    @property
    def run(self) -> RunKey:
        """The run."""

    async def claim(self, owner: str) -> tuple[Lease, T_co] | Holder:
        """Take the run, or return its current row; see `graph.ledger.lease.claimed`."""

    async def take_over(self, owner: str, seen: Holder) -> tuple[Lease, T_co] | None:
        """Take the run, or return None if its row has changed; see `graph.ledger.lease.taken_over`."""

    async def look(self) -> Holder | None:
        """Return the run's row."""


class LeaseTable(Protocol):
    """A driver's operations to release runs, each one transaction."""

    async def release(self, lease: Lease) -> None:
        """Release a run; see `graph.ledger.lease.released`."""

    async def disown(self, owner: str) -> None:
        """Release every run of an owner that was cancelled before it received its token."""


class Ownership:
    """The leases held by one ledger; the driver sends heartbeats for those in `held`.

    `held` has the time when each was last proved by a heartbeat that a driver has noted, on `clock`; None if none was.
    """

    # No reference to the ledger, so that a ledger dropped without `close` is collected at once.

    def __init__(self, database: str, table: LeaseTable, held: Held, pace: Pace, clock: Clock | None = CLOCK) -> None:
        self._database, self._table, self._pace, self._clock = database, table, pace, clock
        self.held = held

    def now_s(self) -> float | None:
        """Return the time on the clock of proofs, None if there is none."""
        return now_s(self._clock)

    def note_proof(self, lease: Lease, asked_s: float | None) -> None:
        """Note a heartbeat that is committed; `asked_s` is the time before its transaction."""
        if lease in self.held:
            self.held[lease] = asked_s

    async def prove(self, lease: Lease, look: Callable[[], Awaitable[object]]) -> Proof:
        """Have a driver `look` at a lease, unless a proof of it counts; `look` raises if it is lost.

        It looks once more if it slept meanwhile: what it found then may be no longer so.
        """
        proved_s = self.held.get(lease)
        while not still_counts(proved_s, self.now_s(), self._pace):
            proved_s = self.now_s()
            await look()
            if self._clock is None:
                return lambda: True  # nothing tells whether it sleeps
        return lambda: still_counts(proved_s, self.now_s(), self._pace)

    def acquire(self, attempt: Attempt[T]) -> AbstractAsyncContextManager[tuple[Lease, T]]:
        """Own a run for the length of the block.

        Raises:
            RunOwnedError: The run's owner is alive.
        """
        return self.hold(partial(self._own, attempt))

    @asynccontextmanager
    async def hold(self, own: Callable[[str], Awaitable[tuple[Lease, T]]]) -> AsyncIterator[tuple[Lease, T]]:
        """Hold the lease that `own` acquires, and retire its owner name at the end."""
        owner = await named_owner()
        try:
            async with self._given_back(own, owner) as taken:
                yield taken
        finally:
            retire(owner)

    @asynccontextmanager
    async def _given_back(
        self, own: Callable[[str], Awaitable[tuple[Lease, T]]], owner: str
    ) -> AsyncIterator[tuple[Lease, T]]:
        """Hold a lease, and release it unless the last events did (`Ledger.write(and_release=True)`)."""
        try:
            lease, found = await own(owner)
        except asyncio.CancelledError:
            with suppress(LedgerError):  # the claim may still commit after the cancellation
                await asyncio.shield(self._table.disown(owner))
            raise
        self.held[lease] = None
        try:
            yield lease, found
        finally:
            if lease in self.held:
                del self.held[lease]
                with suppress(LedgerError):  # best effort: without a release the lease expires by itself
                    # Shielded: a second cancellation would leave the run to an owner that is done, until its lease
                    # expires.
                    await asyncio.shield(self._table.release(lease))

    async def _own(self, attempt: Attempt[T], owner: str) -> tuple[Lease, T]:
        """Take a run if it is free or its owner is dead; otherwise watch the heartbeat first."""
        found = await attempt.claim(owner)
        if not isinstance(found, Holder):
            return found
        # A process of this machine that is gone sends no heartbeat, so nobody has to wait for the next one.
        is_dead = await asyncio.to_thread(is_gone, found.owner)
        taken = await attempt.take_over(owner, found if is_dead else await self._outlast(attempt, found))
        if taken is None:
            raise RunOwnedError(self._database, attempt.run.id)
        return taken

    async def _outlast(self, attempt: Attempt[T], seen: Holder) -> Holder:
        """Poll the row; return it once it is released or the heartbeat has not moved for `lease_s`."""
        clock = asyncio.get_running_loop().time  # monotonic, and the one that measures the sleep
        watch = Watch(seen, clock() + self._pace.lease_s)
        while True:
            await asyncio.sleep(self._pace.look_s)
            now = await attempt.look()
            match watch.verdict(now, clock()):
                case "alive":
                    raise RunOwnedError(self._database, attempt.run.id)
                case "free" | "dead":
                    assert now is not None
                    return now
                case "watching":
                    pass
