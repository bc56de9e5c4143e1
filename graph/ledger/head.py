"""A run as its writers find it: one look in the transaction of new events, and the checks on it."""

from typing import TYPE_CHECKING, NamedTuple

from planner_executor.graph.ledger.lease import Holder
from planner_executor.graph.ledger.owner import may_live
from planner_executor.graph.ledger.refusals import check_control_seq, check_inbox, check_lease
from planner_executor.graph.ledger.seal import Standing
from planner_executor.graph.record.run_key import RunKey

if TYPE_CHECKING:
    from planner_executor.graph.ledger.protocol import Lease


class Head(NamedTuple):
    """A run; `seq` and `link` are those of its last event, `control_seq` is that of the last one in `CONTROL`.

    `silent_s` is the time since the holder's last heartbeat, in seconds, by the clock of a database server.
    """

    run: RunKey
    run_id: int
    standing: Standing
    seq: int
    link: bytes
    holder: Holder | None
    has_messages: bool
    control_seq: int
    silent_s: float = 0.0

    def is_worked_on(self, silent_s: float) -> bool:
        """Whether the run's owner may live; one that was silent for more than `silent_s` seconds is dead."""
        return self.holder is not None and may_live(self.holder.owner) and self.silent_s <= silent_s

    def check(
        self, database: str, lease: "Lease", control_seq: int | None = None, require_empty_inbox: bool = False
    ) -> None:
        """Refuse what is outdated: the lease, or its holder's last control event.

        Raises:
            LeaseLostError: See `check_lease`.
            StaleRunError: See `check_control_seq`.
            MessageWaitingError: See `check_inbox`.
        """
        check_lease(database, lease, self.holder)
        check_control_seq(database, lease.run, control_seq, self.control_seq)
        check_inbox(database, lease.run, require_empty_inbox and self.has_messages)
