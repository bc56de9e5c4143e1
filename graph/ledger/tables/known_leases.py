"""What a process knows of the leases that it holds, beside what the database says of them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from planner_executor.graph.ledger.family import Effect
from planner_executor.graph.ledger.head import Head
from planner_executor.graph.ledger.protocol import Lease
from planner_executor.graph.ledger.tables.leases import beat
from planner_executor.graph.ledger.tables.transaction import Transaction


class KnownLeases:
    """Nothing: a file does not forget what was committed while a process of its machine lives."""

    def add(self, lease: Lease, owner: str) -> None:
        """Note a lease that was just given out."""

    def note(self, lease: Lease, seq: int) -> None:
        """Note the last event of a run that is committed."""

    def leave(self, lease: Lease, head: Head) -> None:
        """Note how a transaction leaves a run; called before its commit, on the thread of the run's transactions."""

    def guessed(
        self, tx: Transaction, lease: Lease, control_seq: int | None, require_empty_inbox: bool, begun: Sequence[Effect]
    ) -> Head | None:
        """Return a run as the last transaction left it, checked with the commit; None if that is not known.

        If the guess is wrong, the transaction fails and is done again; it must not guess then. `begun` are calls that
        no other run of the family has begun, by the guess.
        """

    def prove(self, tx: Transaction, lease: Lease) -> bool:
        """Write a heartbeat with an intent, and return whether it proves the lease once it is committed."""
        beat(tx, [lease])
        return True

    @contextmanager
    def noted(self, lease: Lease, seq: int = 0) -> Iterator[None]:
        """Forget a lease at the end of the block."""
        self.note(lease, seq)
        yield

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
        head.check(database, lease, control_seq, require_empty_inbox)
