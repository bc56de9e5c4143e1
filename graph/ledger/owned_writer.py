"""Writing events under a lease, or under one for a single transaction, for every driver."""

from abc import abstractmethod
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import NamedTuple

from planner_executor.graph.ledger.checked_reader import CheckedReader
from planner_executor.graph.ledger.erasure import redactor_of
from planner_executor.graph.ledger.ownership import Ownership
from planner_executor.graph.ledger.protocol import Lease, Proof
from planner_executor.graph.ledger.reading import Snapshot
from planner_executor.graph.ledger.run_store import Redacted
from planner_executor.graph.record.caps import CapEntry
from planner_executor.graph.record.events import Draft, Event
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.standing_approval import StandingApproval, StandingCall
from planner_executor.graph.record.values import Kept


class Batch(NamedTuple):
    """Events, and what is written or checked with them; see `graph.ledger.protocol.Ledger.write`."""

    drafts: Sequence[Draft]
    artifacts: Sequence[Kept]
    control_seq: int | None
    caps: Sequence[CapEntry]
    uses: Sequence[StandingCall] = ()
    given: Sequence[StandingApproval] = ()


class OwnedWriter(CheckedReader):
    """The method `write` of `graph.ledger.protocol.Ledger`; a driver adds one transaction."""

    _ownership: Ownership

    async def write(
        self,
        by: Lease | RunKey,
        drafts: Sequence[Draft],
        *,
        after: int,
        artifacts: Sequence[Kept] = (),
        control_seq: int | None = None,
        and_release: bool = False,
        caps: Sequence[CapEntry] = (),
        uses: Sequence[StandingCall] = (),
        given: Sequence[StandingApproval] = (),
    ) -> list[Event]:
        """Write events and return those after the run's `after`-th, in one transaction."""
        run = by if isinstance(by, RunKey) else by.run
        batch = Batch(drafts, artifacts, control_seq, caps, uses, given)
        found = await self._written(by, batch, after, and_release)
        if found is None:  # owned by another process, which may be dead: only its heartbeat can tell
            async with self.owned(run) as lease:
                return await self.write(lease, after=after, **batch._asdict())
        if and_release and isinstance(by, Lease):
            self._ownership.held.pop(by, None)
        return await self._checked(run, found, after)

    async def prove(self, lease: Lease) -> Proof:
        """Make sure that a lease is in force now, right before an effect."""
        return await self._ownership.prove(lease, lambda: self._look_at(lease))

    async def redact(self, thread: str, value: str, by: str, reason: str) -> Redacted:
        """Take a value out of all that is kept of a thread, while nobody else owns one of its runs."""
        forms, runs = redactor_of(value).forms, [RunKey(thread, n) for n in await self.numbers(thread)]
        async with AsyncExitStack() as owned:
            for run in runs:
                await owned.enter_async_context(self.owned(run))
            done = await self._erased(thread, runs, value, by, reason)
        return done._replace(remaining=tuple(await self._compacted(forms)))

    @abstractmethod
    async def numbers(self, thread: str) -> list[int]:
        """Return the numbers of the thread's runs, in order."""

    @abstractmethod
    async def _erased(self, thread: str, runs: Sequence[RunKey], value: str, by: str, reason: str) -> Redacted:
        """Take a value out of a thread in one transaction; `runs` are all of its runs, which are owned."""

    @abstractmethod
    async def _compacted(self, forms: Sequence[str]) -> list[str]:
        """Overwrite what was replaced, and return where one of the forms is still found."""

    @abstractmethod
    async def _look_at(self, lease: Lease) -> object:
        """Read a lease and show that its owner is alive, so that no other takes the run as long as this counts.

        Raises:
            LeaseLostError: It is no longer in force.
        """

    @abstractmethod
    def owned(self, run: RunKey) -> AbstractAsyncContextManager[Lease]:
        """Own a run for the length of the block."""

    @abstractmethod
    async def _written(self, by: Lease | RunKey, batch: Batch, after: int, and_release: bool) -> Snapshot | None:
        """Write a batch in one transaction, and return the run from its `after`-th event on.

        Without a lease the run must be free, and is left so under a new token. None if it has an owner.
        """
