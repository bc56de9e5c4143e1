"""The audit ledger, as the graph uses it; `graph.ledger.run_store` adds listing, search and redaction.

A driver holds statements and transactions. The rules are functions of this package, which every driver calls inside its
transactions: `chaining` (numbers and hashes events), `refusals` (checks before a write), `lease` and `ownership`
(owners of runs), `reading` (checks after a read), `search` (names, filters and pages), `erasure` (redaction),
`graph.record.summary` and `graph.record.counters` (the index of runs). `tests/ledger_contract` checks each sentence
below for every driver. See `docs/decisions/0037-ledger-drivers.md`.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from planner_executor.graph.record.call import Call
from planner_executor.graph.record.caps import CapEntry
from planner_executor.graph.record.events import Draft, Event
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.sample import Sample
from planner_executor.graph.record.standing_approval import StandingApproval, StandingCall, StandingUse
from planner_executor.graph.record.values import Kept


class Lease(NamedTuple):
    """The right to write events of a run, until a later token is issued."""

    run: RunKey
    run_id: int
    token: int


@dataclass(frozen=True)
class Elsewhere:
    """Calls of the other runs of a family, and how far each of those runs was read, by the number of an event.

    `has_forks`: the family has runs on several threads, which may be executed at the same time.
    """

    calls: Sequence[Call] = ()
    seen: Mapping[RunKey, int] = field(default_factory=dict)
    has_forks: bool = False


NOTHING_SEEN: Mapping[RunKey, int] = {}

Proof = Callable[[], bool]
"""Whether a proof of a lease still counts."""
Message = str
"""`pause`, `hand over`, `cancel`, or the text of an amendment (`graph.record.amendment`) or of a revocation."""
MessageHandler = Callable[[list[Message]], Sequence[Draft]]


def no_events(_messages: list[Message]) -> Sequence[Draft]:
    """Return no events."""
    return ()


class News(NamedTuple):
    """The unread part of a run: events, and whether its inbox holds messages."""

    events: Sequence[Event]
    has_messages: bool


class Owned(NamedTuple):
    """A newly acquired run, its unread part, and whether the opening events were written."""

    lease: Lease
    news: News
    opened: bool = False


class Ledger(Protocol):
    """Append-only events per run, and artifacts.

    No call blocks the event loop's thread. A ledger serves any number of event loops at a time, and survives an event
    loop that is closed during a call. Several ledgers may be open on one database, in one process or in many: each call
    is one transaction, which sees everything the others have committed. A call is atomic; if it raises, nothing has
    changed and calls that share its commit are not affected. Cancelling the caller does not stop the transaction, but
    leaves the caller no lease.

    Events of a run are numbered from 1 without a gap. Their times are the writer's clock, for display only.

    Every method raises LedgerUnavailableError if the database cannot be used, MissingRunError if the run is not in it,
    and a plain LedgerError if an event, a message or a name holds a lone surrogate or NaN. The database is opened on
    first use.
    """

    @property
    def name(self) -> str:
        """The database's name in messages."""

    async def open_run(self, thread: str, drafts: Sequence[Draft], artifacts: Sequence[Kept] = ()) -> RunKey:
        """Start the thread's next run, and return its key; its number follows that of the thread's latest run.

        Args:
            thread: Any text.
            drafts: First events; `thread` and `n` are set in `run_started`, see `graph.ledger.chaining.of_run`.
            artifacts: Values that the events name by their artifact's id.
        """

    def begun(
        self, thread: str, drafts: Sequence[Draft], artifacts: Sequence[Kept] = ()
    ) -> AbstractAsyncContextManager[Owned]:
        """Start the thread's next run as `open_run` does, and own it from its first event on."""

    def owned(self, run: RunKey) -> AbstractAsyncContextManager[Lease]:
        """Own a run for the length of the block; no other owner can write its events meanwhile.

        The lease has a higher token than any before it. Its heartbeat goes on until the release, even if the event loop
        is blocked. It is released at the end, also if the caller raises or is cancelled; an unreleased lease of a
        finished owner does not delay the next one.

        An owner whose process is known to be dead is replaced at once. Any other owner is watched: it is replaced if
        its heartbeat does not move for `Pace.lease_s` on the challenger's clock, or if it releases the run. Of several
        challengers one wins. A challenger that gives up does not affect the owner. The transaction in which an owner is
        replaced writes an `owner_replaced`, which says whether its process is known to be dead.

        Raises:
            RunOwnedError: The owner is alive, or another challenger won; raised within 15 seconds.
        """

    def owned_and_read(
        self, run: RunKey, after: int = 0, opening: Sequence[Draft] = ()
    ) -> AbstractAsyncContextManager[Owned]:
        """Own a run as `owned` does, and read its events after the `after`-th in the transaction that acquires it.

        Args:
            run: The run.
            after: Sequence number of the last event that the caller has read.
            opening: Events to write at once if there are no unread events and no messages; if they were written,
                `opened` is set and `news` holds them.

        Raises:
            RunOwnedError: See `owned`.
            LedgerCorruptError: See `events`; the run is released. No events were written if the last ones that the
                caller has read are missing.
        """

    async def news(self, lease: Lease, after: int) -> News:
        """Return the unread part of an owned run, after its `after`-th event.

        Raises:
            LeaseLostError: Another owner has taken the run over.
            LedgerCorruptError: See `events`.
        """

    async def prove(self, lease: Lease) -> Proof:
        """Make sure, right before an effect, that a lease is in force: the process may have slept since its last write.

        The lease is read, which is a heartbeat, unless an earlier one of this process counts; see `graph.ledger.proof`.
        No other process takes the run over for the time of a lease after that. Return whether the proof
        still counts, to be asked on another thread where the effect begins there.

        Raises:
            LeaseLostError: The token is outdated or was released.
        """

    async def append(
        self,
        lease: Lease,
        drafts: Sequence[Draft],
        *,
        artifacts: Sequence[Kept] = (),
        control_seq: int | None = None,
        require_empty_inbox: bool = False,
        uses: Sequence[StandingCall] = (),
        caps: Sequence[CapEntry] = (),
        seen: Mapping[RunKey, int] = NOTHING_SEEN,
    ) -> int:
        """Write events, all or none, and return the run's last sequence number, also if there are no events to write.

        The checks of `graph.ledger.refusals` run in the order of the errors below. An event that is not `safe` is on
        disk, with all before it, when the call returns: it survives a power cut.

        Args:
            lease: The lease of the run.
            drafts: The events, in order.
            artifacts: Values that the events name by their artifact's id.
            control_seq: Sequence number of the last event in `CONTROL` that the author has seen, 0 if it has seen none;
                None to skip the check.
            require_empty_inbox: Whether a message in the run's inbox prevents the write.
            uses: Calls that standing approvals let through, counted in the same transaction; a call counted before
                is counted once.
            caps: What calls take of caps across runs, counted in the same transaction, and corrections of that.
            seen: Of other runs of the family, the last event that `calls_elsewhere` has taken into account. An intent
                of a call that may not be repeated is refused if one of them has begun the same call, and anything
                about it was written since.

        Raises:
            LeaseLostError: The token is outdated or was released; nothing was written.
            StaleRunError: The last event in `CONTROL` is not the `control_seq`-th; nothing was written.
            MessageWaitingError: A message waits in the inbox, and `require_empty_inbox` is set; nothing was written.
            CallElsewhereError: See `seen`; nothing was written.
            StandingSpentError: A standing approval covers no further call; nothing was written.
            CapReachedError: A cap allows a call only later; nothing was written.
            LedgerCorruptError: The run's last events are missing; nothing was written.
            LedgerSealError: The run is not sealed with this ledger's key; nothing was written.
        """

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
        """Write events, all or none, and return those after the run's `after`-th, all in one transaction.

        Args:
            by: The lease of the run, or the run itself, to own it for this call only.
            drafts: See `append`.
            after: Sequence number of the last event that the author has read.
            artifacts: See `append`.
            control_seq: See `append`.
            and_release: Whether to release the lease in the same transaction. If the events are refused, the run stays
                owned.
            caps: See `append`.
            uses: See `append`; that of a playbook's approval is counted for the run.
            given: Standing approvals that hold in any run; one of the same name stays as it is.

        Raises:
            RunOwnedError: Another owner of the run is alive; nothing was written.
            LedgerCorruptError: The run's last events are missing, and nothing was written; or an event after the
                `after`-th is damaged.
            AgentError: See `append`.
        """

    async def take_messages(self, lease: Lease, answer: MessageHandler = no_events) -> list[Message]:
        """Empty a run's inbox, write the events of `answer` in the same transaction, and return the messages in order.

        `answer` is not called for an empty inbox. It may be called on another thread, and must not use the ledger.

        Raises:
            LeaseLostError: Another owner has taken the run over; the inbox is unchanged.
        """

    async def events(self, run: RunKey, after: int = 0) -> list[Event]:
        """Return a run's events after the `after`-th, in order, their chain checked from there on.

        Damage to other runs is not noticed. If the run is sealed with this ledger's key, its seal is checked too.

        Raises:
            LedgerCorruptError: An event was changed, is missing or was added; names the first such event.
            LedgerSealError: The seal does not fit the last event.
        """

    async def calls_elsewhere(self, run: RunKey, forked_from: str | None = None) -> Elsewhere:
        """Return non-repeatable calls of the family's other runs that are uncertain, or are known to have happened.

        In runs of the same thread those are known to have happened that a person has settled so; in forks, in runs of
        other threads, and in the run that this one is a fork of (`forked_from`), also those that succeeded. A call
        settled by any run of the family counts as settled. Runs without such a call are not read.

        Raises:
            LedgerCorruptError: An event of such a run is damaged.
        """

    async def standing(self, tool: str | None = None, named: Collection[str] = ()) -> list[StandingUse]:
        """Return the standing approvals that hold, or held, in any run, the oldest first.

        Args:
            tool: Leaves out those of other tools, and those that are over.
            named: The ids of those that are not left out in any case.

        Raises:
            LedgerCorruptError: A row was changed.
        """

    async def revoke_standing(self, name: str, by: str) -> bool:
        """End a standing approval at once; return whether there was one to end."""

    async def now(self) -> float:
        """Return the time in Unix seconds, by the clock that decides what is due: the server's, or this machine's."""

    async def step_history(self, likenesses: Sequence[str]) -> Mapping[str, Sequence[Sample]]:
        """Return what like steps of ended runs took, the latest first, at most `graph.record.sample.KEPT` each.

        They follow from the events of the ledger, and are kept in the transaction of a run's end. Those of removed runs
        stay until `reindex`. A likeness without any is left out.
        """

    async def last_run(self, thread: str) -> RunKey | None:
        """Return the thread's latest run, or None."""

    async def latest(
        self, thread: str, known: RunKey | None = None, after: int = 0
    ) -> tuple[RunKey, list[Event]] | None:
        """Return the thread's latest run with its events, or None; if it is `known`, those after the `after`-th.

        Raises:
            LedgerCorruptError: See `events`.
        """

    async def artifact(self, artifact_id: str) -> str:
        """Return an artifact's JSON text.

        Raises:
            LedgerCorruptError: The artifact is missing or its bytes were changed.
        """
