"""How often and how long a step is tried: limits that the plan, the tool, the policy and the settings may each set."""

from typing import Annotated, Any, NamedTuple

from pydantic import Field, Strict

from planner_executor.graph.plan.backoff import doubled_s
from planner_executor.graph.words.tables import Number, Says, Shape, read

FIRST_WAIT_S = 1.0
"""Seconds before the second attempt, if nothing else is said."""
LONGEST_WAIT_S = 60.0


class AttemptLimits(NamedTuple):
    """Limits of a step's attempts; None means that nothing is said.

    `timeout_s` bounds one call, or all turns of a model step. `attempts` counts all of them, the first one included.
    `backoff_s` is the wait before the second attempt; it doubles with each further one.
    """

    timeout_s: Annotated[Number, Field(gt=0), Says("must be a number of seconds above 0")] | None = None
    attempts: Annotated[int, Strict(), Field(ge=1), Says("must be an integer >= 1")] | None = None
    backoff_s: Annotated[Number, Field(ge=0), Says("must be a number of seconds >= 0")] | None = None

    def lowest(self, *others: "AttemptLimits") -> "AttemptLimits":
        """Return the lowest of each limit.

        >>> AttemptLimits(attempts=5).lowest(AttemptLimits(timeout_s=9, attempts=3))
        AttemptLimits(timeout_s=9, attempts=3, backoff_s=None)
        """
        said = [limits.to_json() for limits in (self, *others) if limits != NO_LIMITS]
        if not said:
            return NO_LIMITS
        names = {name for limits in said for name in limits}
        return AttemptLimits(**{name: min(limits[name] for limits in said if name in limits) for name in names})

    @property
    def most(self) -> int:
        """How often a call may be made in all: once unless said otherwise."""
        return self.attempts or 1

    def wait_s(self, failed: int, jitter: float) -> float:
        """Return the seconds before the next attempt.

        Args:
            failed: Number of failed attempts.
            jitter: Random number from 0 to 1, which spreads out steps that failed together.

        >>> AttemptLimits(backoff_s=2).wait_s(1, 1.0), AttemptLimits(backoff_s=2).wait_s(3, 0.0)
        (2.0, 4.0)
        """
        first = FIRST_WAIT_S if self.backoff_s is None else self.backoff_s
        return doubled_s(first, failed, LONGEST_WAIT_S) * (0.5 + jitter / 2)

    def to_json(self) -> dict[str, Any]:
        """Return the limits that are set."""
        return {name: value for name, value in self._asdict().items() if value is not None}


NO_LIMITS = AttemptLimits()


def limit_fault(name: str, value: Any) -> str | None:
    """Return what is wrong with a limit that somebody gives, None if it can be used.

    >>> limit_fault("attempts", 0), limit_fault("timeout_s", 2.5)
    ('must be an integer >= 1', None)
    """
    return next((why for _, why in read(AttemptTable, {name: value})[1]), None)


ATTEMPT_FIELDS = AttemptLimits._fields
AttemptTable = Annotated[AttemptLimits, Shape()]
