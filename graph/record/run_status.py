"""The statuses of a run: those with which it ends, and those before."""

from typing import Literal, assert_never, get_args

EndStatus = Literal["succeeded", "partial", "failed", "rejected", "budget_exhausted", "cancelled"]
ENDS: tuple[EndStatus, ...] = get_args(EndStatus)
RunStatus = Literal["planning", "running", "waiting", "paused", EndStatus, "damaged"]
STATUSES: tuple[RunStatus, ...] = get_args(RunStatus)


def is_failure(status: EndStatus) -> bool:
    """Whether a run that ended so has done less than it was to do, without a person who wanted that."""
    match status:
        case "failed" | "partial" | "budget_exhausted":
            return True
        case "succeeded" | "rejected" | "cancelled":
            return False
        case _:
            assert_never(status)


FAILURES = frozenset(status for status in ENDS if is_failure(status))
