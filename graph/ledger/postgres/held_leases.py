"""What a process knows of the leases that it holds, beside what the server says of them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from planner_executor.graph.errors import LeaseLostError
from planner_executor.graph.ledger.family import Effect
from planner_executor.graph.ledger.head import Head
from planner_executor.graph.ledger.protocol import Lease
from planner_executor.graph.ledger.tables.families import BEGUN_ALIKE, held_back
from planner_executor.graph.ledger.tables.known_leases import KnownLeases
from planner_executor.graph.ledger.tables.transaction import Transaction

# A division by zero ends the transaction without an answer being awaited, so a guess costs no round trip (decision 54).
_AS_GUESSED = """SELECT 1 / count(*) FROM ledger_runs AS runs JOIN ledger_leases ON ledger_leases.run = runs.id
    JOIN ledger_events AS last ON last.run = runs.id AND last.seq = runs.events
    WHERE runs.id = %s AND runs.events = %s AND runs.key IS NOT DISTINCT FROM %s AND runs.seal IS NOT DISTINCT FROM %s
    AND last.link = %s AND owner = %s AND token = %s
    AND NOT EXISTS (SELECT FROM ledger_events AS more WHERE more.run = runs.id AND more.seq > runs.events)"""
_NO_MESSAGES = " AND NOT EXISTS (SELECT FROM ledger_inbox AS inbox WHERE inbox.run = runs.id)"
_ALONE = f"SELECT 1 / (NOT EXISTS (SELECT {BEGUN_ALIKE}))::int"


@dataclass
class _Known:
    """The owner's name, the last event known to be committed, and the run as the last transaction left it."""

    owner: str
    seq: int = 0
    left: Head | None = None


@dataclass(frozen=True)
class HeldLeases(KnownLeases):
    """A server that crashes forgets the last commits that did not wait for its disk.

    Another process may then be given the same token, and would be taken for this one; or the run goes on without its
    last events. So a lease is in force only if the server knows this owner and all that it wrote.
    """

    known: dict[Lease, _Known] = field(default_factory=dict)

    def add(self, lease: Lease, owner: str) -> None:
        """Note a lease that was just given out."""
        self.known[lease] = _Known(owner)

    def note(self, lease: Lease, seq: int) -> None:
        """Note the last event of a run that is committed."""
        if (known := self.known.get(lease)) is not None:
            known.seq = max(known.seq, seq)

    def leave(self, lease: Lease, head: Head) -> None:
        """Note how a transaction leaves a run; called before its commit, on the thread of the run's transactions."""
        if (known := self.known.get(lease)) is not None:
            known.left = head

    def guessed(
        self, tx: Transaction, lease: Lease, control_seq: int | None, require_empty_inbox: bool, begun: Sequence[Effect]
    ) -> Head | None:
        """Return a run as the last transaction left it, checked with the commit; None if that is not known."""
        known = self.known.get(lease)
        if known is None:
            return None
        left, known.left = known.left, None  # used once: if the guess is wrong, it must not be made again
        if left is None or left.holder is None or control_seq not in (None, left.control_seq):
            return None
        _guess(tx, left, require_empty_inbox)
        for tool, digest, _ in held_back(tx, left.run_id, begun):
            tx.tell(_ALONE, left.run_id, tool, digest, digest, left.run_id)
        return left

    def prove(self, _tx: Transaction, _lease: Lease) -> bool:
        """Return False: the server's clock, and not this machine's, decides how old a heartbeat is."""
        return False

    @contextmanager
    def noted(self, lease: Lease, seq: int = 0) -> Iterator[None]:
        """Forget a lease at the end of the block."""
        self.note(lease, seq)
        try:
            yield
        finally:
            self.known.pop(lease, None)

    def check(
        self,
        database: str,
        head: Head,
        lease: Lease,
        control_seq: int | None = None,
        require_empty_inbox: bool = False,
    ) -> None:
        """Refuse what is outdated: the lease, or its holder's last control event.

        Raises:
            LeaseLostError: The token is outdated, or the server has forgotten the lease or its last events.
            StaleRunError, MessageWaitingError: See `Head.check`.
        """
        if self._is_forgotten(lease, head):
            raise LeaseLostError(database, lease.run.id)
        head.check(database, lease, control_seq, require_empty_inbox)

    def _is_forgotten(self, lease: Lease, head: Head) -> bool:
        known = self.known.get(lease)
        if known is None or head.holder is None:
            return False
        # After a crash the server may give the same token out again: the owner's name tells the two apart.
        return head.holder.owner != known.owner or head.standing.events < known.seq


def _guess(tx: Transaction, head: Head, require_empty_inbox: bool) -> None:
    """Lock a run, and have the transaction fail (`workers.WRONG_GUESS`) unless it is as given; nothing is asked."""
    assert head.holder is not None
    tx.on_server("SELECT FROM ledger_runs WHERE id = %s FOR UPDATE", head.run_id)
    query = f"{_AS_GUESSED}{_NO_MESSAGES if require_empty_inbox else ''}"
    tx.tell(query, head.run_id, *head.standing, head.link, head.holder.owner, head.holder.token)
