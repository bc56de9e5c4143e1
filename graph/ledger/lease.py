"""Who owns a running run: one row per run, with a fencing token that only grows and a heartbeat.

A challenger takes a run over if its owner is gone for sure, or if the heartbeat has stood still for `Pace.lease_s` on
the challenger's own monotonic clock. Wall clocks decide nothing. An owner that was taken over finds its token outdated
in the transaction of its next event.

A driver reads the row, asks a function of this module and writes what it returns, all in one transaction. See
`docs/decisions/0009-lease.md`.
"""

from dataclasses import dataclass, replace
from typing import Literal

LEASE_S = 10.0
BEAT_S = 2.0
LOOK_S = 0.25


@dataclass(frozen=True)
class Pace:
    """How often an owner's heart beats, how long it may stand still, and how often a challenger looks; in seconds."""

    beat_s: float = BEAT_S
    lease_s: float = LEASE_S
    look_s: float = LOOK_S


PACE = Pace()


@dataclass(frozen=True)
class Holder:
    """A run's row: who owns the run, the last token that was given out, and the heartbeat. An empty owner let go."""

    owner: str
    token: int
    beat: int = 0


def claimed(now: Holder | None, owner: str) -> Holder | None:
    """Return the row of a run that its new owner takes, None if somebody owns it; `now` is None if nobody ever did."""
    if now is None:
        return Holder(owner, token=1)
    return None if now.owner else taken_over(now, now, owner)


def taken_over(now: Holder | None, seen: Holder, owner: str) -> Holder | None:
    """Return the row of a run that is taken over, None if it is not as its challenger has `seen` it any more.

    An owner that let go meanwhile changes nothing: neither the token nor the heartbeat moved.
    """
    if now is None or (now.token, now.beat) != (seen.token, seen.beat):
        return None
    return Holder(owner, seen.token + 1)


def released(now: Holder | None, token: int) -> Holder | None:
    """Return the row of a run that its owner gives back, None if the token is outdated."""
    return replace(now, owner="") if now is not None and now.token == token else None


def is_in_force(now: Holder | None, token: int) -> bool:
    """Whether events may be written under a token."""
    return now is not None and now.token == token and bool(now.owner)


@dataclass(frozen=True)
class Watch:
    """A challenger's watch over an owner of whom nothing is known; `until_s` is a time of its own monotonic clock."""

    seen: Holder
    until_s: float

    def verdict(self, now: Holder | None, now_s: float) -> Literal["free", "alive", "watching", "dead"]:
        """Judge an owner by the row as it is now, at `now_s` of the challenger's clock."""
        if now is not None and not now.owner:
            return "free"
        if now is None or (now.token, now.beat) != (self.seen.token, self.seen.beat):
            return "alive"
        return "watching" if now_s < self.until_s else "dead"
