"""The clock of a replay: it stands still until the record reaches a limit of time."""

from planner_executor.graph.record.events import BudgetReached
from planner_executor.graph.replay.recording import Recording

LONG_S = 1e9
LATE = 1e12
"""A time, in Unix seconds, after the deadline of every run."""


class RecordedClock:
    """Time as the record has it."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._begins = False

    def begin(self) -> None:
        """Let an owner's time begin with the next look at the clock."""
        self._begins = True

    def seconds(self) -> float:
        """Return seconds of a monotonic clock."""
        if self._begins:
            self._begins = False
            return 0.0
        # All of the budget's time passes at once, when the record says that it has.
        return LONG_S if self._is_over("wall_s") else 0.0

    def now(self) -> float:
        """Return Unix seconds: no deadline is near until the record reaches it."""
        return LATE if self._is_over("elapsed_s") else 0.0

    def _is_over(self, limit: str) -> bool:
        """Whether the record reaches this limit of time next."""
        barrier = self._recording.barrier
        reached = barrier.data_if_known if barrier is not None else None
        is_over = isinstance(reached, BudgetReached) and reached.limit == limit
        return is_over and not self._recording.is_for_a_call
