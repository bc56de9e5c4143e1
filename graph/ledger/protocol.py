"""The audit ledger as a graph sees it; `graph.ledger.run_store` adds what lists, searches and redactions need.

A driver holds statements and transactions. What it writes and refuses is decided by functions of this package, which
every driver calls in its transactions: `chaining` (events, numbered and hashed), `refusals` (what keeps events from
being written), `lease` and `ownership` (who owns a run), `reading` (what is checked), `search` (what a name and a page
mean), `erasure` (what a redaction changes), `graph.record.summary` and `graph.record.counters` (the index of runs).
`tests/ledger_contract` checks each sentence below for every driver.
"""

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
    """Append-only events per run, and artifacts.

    No call ever makes the event loop's thread wait. A ledger serves any event loop, several at a time, and outlives
    one that is closed under a call. Several ledgers may be open on one database, in one process or in many: each call
    is one transaction, which sees what the others have committed. It is done as a whole or not at all; a call that
    raises has changed nothing and does not disturb those it shares a commit with. A caller that is cancelled does not
    stop what it asked for, but owns nothing by it.

    Events of a run are numbered from 1 without a gap. Their times are the writer's and decide nothing.

    Every method raises LedgerUnavailableError if the database cannot be used or the run is not in it, and a plain
    LedgerError if an event, a message or a name holds what no record can (half a surrogate pair, NaN). The database is
    opened on first use.
    """

    @property
    def name(self) -> str:
        """How the database is called in messages."""

    async def open_run(self, thread: str, drafts: Sequence[Draft], artifacts: Sequence[Kept] = ()) -> RunKey:
        """Start the thread's next run, and return it; its number follows that of the thread's latest run.

        Args:
            thread: Any text.
            drafts: Its first events; `run_started` learns `thread` and `n`, see `graph.ledger.chaining.of_run`.
            artifacts: Values that the events name by their artifact's id.
        """

    def begun(
        self, thread: str, drafts: Sequence[Draft], artifacts: Sequence[Kept] = ()
    ) -> AbstractAsyncContextManager[Owned]:
        """Start the thread's next run as `open_run` does, and own it from its first event on."""

    def owned(self, run: RunKey) -> AbstractAsyncContextManager[Lease]:
        """Own a run for a while: nobody else can write its events meanwhile.

        The lease has a later token than any before it, and its heart beats until it is given back, whatever the event
        loop does. It is given back at the end, also if the caller raises or is cancelled; one that could not be given
        back holds nobody up.

        An owner whose process is gone for sure is replaced at once. Another one is watched: it is replaced if its heart
        stands still for `Pace.lease_s` on the challenger's clock, or if it lets go meanwhile. Of several challengers
        one wins. A challenger that gives up leaves the owner alone.

        Raises:
            RunOwnedError: Its heart has beaten, or another challenger was faster; told within 15 seconds.
        """

    def owned_and_read(
        self, run: RunKey, after: int = 0, opening: Sequence[Draft] = ()
    ) -> AbstractAsyncContextManager[Owned]:
        """Own a run as `owned` does, and read what came after its `after`-th event in the transaction that takes it.

        Args:
            run: The run.
            after: Sequence number of the last event that the caller has read.
            opening: Events to write at once if there is nothing to read and no message waits; `opened` says whether
                they were written, and `news` then holds them.

        Raises:
            RunOwnedError: See `owned`.
            LedgerCorruptError: See `events`; the run is given back. No events were written if the last ones that the
                caller has read are missing.
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
        """Write events, all or none, and return the run's last sequence number, also if there are no events to write.

        The checks are made in the order of the errors below, `graph.ledger.refusals` has them. Events that are not
        `safe` survive a power cut, and those before them do.

        Args:
            lease: The ownership of the run whose events they are.
            drafts: The events, in order.
            artifacts: Values that the events name by their artifact's id.
            control_seq: Sequence number of the last event in `CONTROL` that the author has seen, 0 if there was none;
                None if it does not matter.
            heed: Whether a message in the run's inbox keeps them from being written.

        Raises:
            LeaseLostError: The token is not the last one, or was given back; nothing was written.
            StaleRunError: The last event in `CONTROL` is not the `control_seq`-th; nothing was written.
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
            lets_go: Whether the lease is given back with them; nothing more is written under it. If the events are
                refused, the run stays owned.

        Raises:
            RunOwnedError: Somebody else owns the run and is alive; nothing was written.
            LedgerCorruptError: The run's last events are missing, and nothing was written; or an event after the
                `after`-th is not what was written.
            AgentError: See `append`.
        """

    async def take_messages(self, lease: Lease, answer: Answer = unanswered) -> list[Message]:
        """Empty a run's inbox, write what answers its messages in the same transaction, and return them in order.

        `answer` is not asked about an empty inbox. It may be called on another thread, and must not use the ledger.

        Raises:
            LeaseLostError: Somebody else has taken the run over; the inbox is as it was.
        """

    async def events(self, run: RunKey, after: int = 0) -> list[Event]:
        """Return a run's events after the `after`-th, in order, their chain checked from there on.

        Other runs' damage does not matter. With a key, the seal of a run that is sealed with it is checked too.

        Raises:
            LedgerCorruptError: An event is not what was written, is missing or was added; it names the first such one.
            LedgerSealError: The seal does not fit the last event.
        """

    async def calls_elsewhere(self, run: RunKey) -> list[Call]:
        """Return calls of the thread's other runs that may not be repeated and are uncertain, or that happened.

        The latter are those of which a person said so when they were uncertain; others are nobody's question. What a
        run has settled of another is taken into account. Runs without a call that may not be repeated are not read.

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
