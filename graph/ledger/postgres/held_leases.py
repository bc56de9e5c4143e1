"""What a process knows of the leases that it holds, beside what the server says of them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from planner_executor.graph.errors import LeaseLostError
from planner_executor.graph.ledger.head import Head
from planner_executor.graph.ledger.postgres.queries import guess
from planner_executor.graph.ledger.postgres.transaction import Transaction
from planner_executor.graph.ledger.protocol import Lease


@dataclass
class _Known:
    """The owner's name, the last event known to be committed, and the run as the last transaction left it."""

    owner: str
    seq: int = 0
    left: Head | None = None


@dataclass(frozen=True)
class HeldLeases:
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

    def guessed(self, tx: Transaction, lease: Lease, control_seq: int | None, require_empty_inbox: bool) -> Head | None:
        """Return a run as the last transaction left it, checked with the commit; None if that is not known.

        If the guess is wrong, the transaction fails and is done again; it must not guess then.
        """
        known = self.known.get(lease)
        if known is None:
            return None
        left, known.left = known.left, None  # used once: if the guess is wrong, it must not be made again
        if left is None or left.holder is None or control_seq not in (None, left.control_seq):
            return None
        guess(tx, left, require_empty_inbox)
        return left

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
        return head.holder.owner != known.owner or head.standing.events < known.seq
