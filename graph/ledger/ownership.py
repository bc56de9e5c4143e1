"""Owning a run for a while: how a lease is taken, watched for, kept and given back, whatever the driver.

A caller may be cancelled at any time. What it asked of the database may then still be committed, so whoever may have
become an owner by it is let go of again.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Protocol, TypeVar

from graph.errors import LedgerError
from graph.ledger.lease import Holder, Pace, Watch
from graph.ledger.owner import is_gone, named_owner, retire
from graph.ledger.protocol import Lease, RunKey
from graph.ledger.refusals import owned_elsewhere

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Attempt(Protocol[T_co]):
    """What a driver does to take one run for an owner, each in a transaction; `T` is what it read in the same one."""

    @property
    def run(self) -> RunKey:
        """The run."""

    async def claim(self, owner: str) -> tuple[Lease, T_co] | Holder:
        """Take the run, or return who owns it; see `graph.ledger.lease.claimed`."""

    async def take_over(self, owner: str, seen: Holder) -> tuple[Lease, T_co] | None:
        """Take the run, or return None if its row is not as it was seen; see `graph.ledger.lease.taken_over`."""

    async def look(self) -> Holder | None:
        """Return the run's row."""


class LeaseTable(Protocol):
    """What a driver does to let go of runs, each in a transaction."""

    async def release(self, lease: Lease) -> None:
        """Give a run back; see `graph.ledger.lease.released`."""

    async def disown(self, owner: str) -> None:
        """Give back whatever an owner has that never learned its token."""


class Ownership:
    """The leases that one ledger holds: `held` are those for which a driver's heart beats.

    It refers to no ledger, so that one that is dropped without being closed is gone at once.
    """

    def __init__(self, database: str, table: LeaseTable, held: set[Lease], pace: Pace) -> None:
        self._database, self._table, self._pace = database, table, pace
        self.held = held

    @asynccontextmanager
    async def owning(self, attempt: Attempt[T]) -> AsyncIterator[tuple[Lease, T]]:
        """Own a run for a while, and give it back.

        Raises:
            RunOwnedError: Its owner is alive.
        """

        async def own(owner: str) -> tuple[Lease, T]:
            return await self._own(attempt, owner)

        async with self.holding(own) as taken:
            yield taken

    @asynccontextmanager
    async def holding(self, own: Callable[[str], Awaitable[tuple[Lease, T]]]) -> AsyncIterator[tuple[Lease, T]]:
        """Have a lease for a while, as `own` takes it; whoever had it is known to be done then."""
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
        """Have a lease for a while, and give it back if that was not done with the last events."""
        try:
            lease, found = await own(owner)
        except asyncio.CancelledError:
            with suppress(LedgerError):  # the claim may be committed all the same, a moment from now
                await asyncio.shield(self._table.disown(owner))
            raise
        self.held.add(lease)
        try:
            yield lease, found
        finally:
            if lease in self.held:
                self.held.discard(lease)
                with suppress(LedgerError):  # whoever finds it in the database learns that it has run out
                    await asyncio.shield(self._table.release(lease))

    async def _own(self, attempt: Attempt[T], owner: str) -> tuple[Lease, T]:
        """Take a run if nobody has it, or if its owner is gone."""
        found = await attempt.claim(owner)
        if not isinstance(found, Holder):
            return found
        is_dead = await asyncio.to_thread(is_gone, found.owner)
        taken = await attempt.take_over(owner, found if is_dead else await self._outlast(attempt, found))
        if taken is None:
            raise owned_elsewhere(self._database, attempt.run)
        return taken

    async def _outlast(self, attempt: Attempt[T], seen: Holder) -> Holder:
        """Watch the heartbeat; return the row once it is free, or has stood still for long enough."""
        watch = Watch(seen, time.monotonic() + self._pace.lease_s)
        while True:
            await asyncio.sleep(self._pace.look_s)
            now = await attempt.look()
            match watch.verdict(now, time.monotonic()):
                case "alive":
                    raise owned_elsewhere(self._database, attempt.run)
                case "free" | "dead":
                    assert now is not None
                    return now
                case "watching":
                    continue
