"""The statuses of a run: those with which it ends, and those before."""

from typing import Literal, get_args

EndStatus = Literal["succeeded", "partial", "failed", "rejected", "budget_exhausted", "cancelled"]
ENDS: tuple[EndStatus, ...] = get_args(EndStatus)
RunStatus = Literal["planning", "running", "waiting", "paused", EndStatus, "damaged"]
STATUSES: tuple[RunStatus, ...] = get_args(RunStatus)
