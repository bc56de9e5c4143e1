"""The audit ledger as the rest of the package sees it."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from graph.record.events import Draft, Event
from graph.record.run_state import Call, run_name
from graph.record.values import Kept


@dataclass(frozen=True)
class RunKey:
    """A run in the ledger: the `n`-th of its thread, counted from 1."""

    thread: str
    n: int

    @property
    def id(self) -> str:
        """The run's name."""
        return run_name(self.thread, self.n)


@dataclass(frozen=True)
class Lease:
    """The right to write events of a run, as long as no later token is given out."""

    run: RunKey
    run_id: int
    token: int


Message = str
"""`pause`, `cancel`, or what `graph.record.amendment.Amendment.to_text` writes."""
Answer = Callable[[list[Message]], Sequence[Draft]]


def unanswered(_messages: list[Message]) -> Sequence[Draft]:
    """Return no events."""
    return ()


@dataclass(frozen=True)
class News:
    """What somebody has not read of a run: events, and whether messages wait in its inbox."""

    events: Sequence[Event]
    has_messages: bool


@dataclass(frozen=True)
class Owned:
    """A run that was just taken, what its owner has not read of it, and whether events were written at once."""

    lease: Lease
    news: News
    opened: bool = False


class Ledger(Protocol):
    """Append-only events per run, and artifacts. No call ever makes the event loop's thread wait.

    Every method raises LedgerUnavailableError where the database cannot be used, and a plain LedgerError where an event
    holds what no record can (half a surrogate pair, NaN).
    """

    @property
    def name(self) -> str:
        """How the database is called in messages."""

    async def open_run(self, thread: str, drafts: Sequence[Draft], artifacts: Sequence[Kept] = ()) -> RunKey:
        """Start the thread's next run with its first events, and the artifacts that they name."""

    def begun(
        self, thread: str, drafts: Sequence[Draft], artifacts: Sequence[Kept] = ()
    ) -> AbstractAsyncContextManager[Owned]:
        """Start the thread's next run as `open_run` does, and own it from its first event on."""

    def owned(self, run: RunKey) -> AbstractAsyncContextManager[Lease]:
        """Own a run for a while: nobody else can write its events meanwhile.

        Raises:
            RunOwnedError: Somebody else owns it and is alive. A dead owner is replaced, within 15 seconds.
        """

    def owned_and_read(
        self, run: RunKey, after: int = 0, opening: Sequence[Draft] = ()
    ) -> AbstractAsyncContextManager[Owned]:
        """Own a run for a while, and read what came after its `after`-th event in the transaction that takes it.

        Args:
            run: The run.
            after: Sequence number of the last event that the caller has read.
            opening: Events to write at once if there is nothing to read and no message waits; `opened` says whether
                they were written, and `news` then holds them.

        Raises:
            RunOwnedError: See `owned`.
            LedgerCorruptError: See `events`.
        """

    async def news(self, lease: Lease, after: int) -> News:
        """Return what came after the `after`-th event of a run that is owned.

        Raises:
            LeaseLostError: Somebody else has taken the run over.
            LedgerCorruptError: See `events`.
        """

    async def append(
        self,
        lease: Lease,
        drafts: Sequence[Draft],
        *,
        artifacts: Sequence[Kept] = (),
        control_seq: int | None = None,
        heed: bool = False,
    ) -> int:
        """Write events, all or none, and return the last sequence number.

        Args:
            lease: The ownership of the run whose events they are.
            drafts: The events, in order.
            artifacts: Values that the events name by their artifact's id.
            control_seq: Sequence number of the last event in `CONTROL` that the author has seen.
            heed: Whether a message in the run's inbox keeps them from being written.

        Raises:
            LeaseLostError: Somebody else has taken the run over; nothing was written.
            StaleRunError: An event in `CONTROL` came after `control_seq`; nothing was written.
            MessageWaitingError: A message waits in the inbox, and `heed` is set; nothing was written.
            LedgerCorruptError: The run's last events are missing; nothing was written.
            LedgerSealError: The run is not sealed with the key at hand; nothing was written.
        """

    async def write(
        self,
        by: Lease | RunKey,
        drafts: Sequence[Draft],
        *,
        after: int,
        artifacts: Sequence[Kept] = (),
        control_seq: int | None = None,
        lets_go: bool = False,
    ) -> list[Event]:
        """Write events, all or none, and return those after the run's `after`-th, all in one transaction.

        Args:
            by: The ownership of the run, or a run that is owned just for this.
            drafts: See `append`.
            after: Sequence number of the last event that the author has read.
            artifacts: See `append`.
            control_seq: See `append`.
            lets_go: Whether the lease is given back with them; nothing more is written under it.

        Raises:
            RunOwnedError: Somebody else owns the run and is alive; nothing was written.
            LedgerCorruptError: The run's last events are missing, and nothing was written; or an event after the
                `after`-th is not what was written.
            AgentError: See `append`.
        """

    async def take_messages(self, lease: Lease, answer: Answer = unanswered) -> list[Message]:
        """Empty a run's inbox, write what answers its messages in the same transaction, and return them in order.

        Raises:
            LeaseLostError: Somebody else has taken the run over; the inbox is as it was.
        """

    async def events(self, run: RunKey, after: int = 0) -> list[Event]:
        """Return a run's events after the `after`-th, in order, their chain checked from there on.

        Raises:
            LedgerCorruptError: An event is not what was written.
        """

    async def calls_elsewhere(self, run: RunKey) -> list[Call]:
        """Return calls of the thread's other runs that may not be repeated and are uncertain, or that happened.

        The latter are those of which a person said so when they were uncertain; others are nobody's question. What a
        run has settled of another is taken into account. Runs without such calls are not read.

        Raises:
            LedgerCorruptError: An event of such a run is not what was written.
        """

    async def last_run(self, thread: str) -> RunKey | None:
        """Return the thread's latest run, or None."""

    async def latest(self, thread: str) -> tuple[RunKey, list[Event]] | None:
        """Return the thread's latest run with its events, or None.

        Raises:
            LedgerCorruptError: See `events`.
        """

    async def artifact(self, artifact_id: str) -> str:
        """Return an artifact's JSON text.

        Raises:
            LedgerCorruptError: Its bytes are not what was written, or it is not there.
        """
