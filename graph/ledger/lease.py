"""The owner of a running run: one row per run, with a fencing token that only grows and a heartbeat.

A challenger takes a run over if the owner's process is known to be dead, or if the heartbeat has not moved for
`Pace.lease_s` on the challenger's own monotonic clock. Wall clocks are never compared. An owner that lost its run finds
its token outdated in the transaction of its next event.

A driver reads the row, asks a function of this module and writes what it returns, all in one transaction. See
`docs/decisions/0009-lease.md`.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

LEASE_S = 10.0
BEAT_S = 2.0
LOOK_S = 0.25


@dataclass(frozen=True)
class Pace:
    """Heartbeat interval, lease time without a heartbeat, and polling interval of a challenger; in seconds."""

    beat_s: float = BEAT_S
    lease_s: float = LEASE_S
    look_s: float = LOOK_S


PACE = Pace()


class Holder(NamedTuple):
    """A run's row: the owner, the last token issued, and the heartbeat. An empty owner means released."""

    owner: str
    token: int
    beat: int = 0


def claimed(now: Holder | None, owner: str) -> Holder | None:
    """Return the row after a claim, or None if the run is owned; `now` is None before the first claim."""
    if now is None:
        return Holder(owner, token=1)
    # A released row keeps its token, so that the next one is higher than any that was given.
    return None if now.owner else taken_over(now, now, owner)


def taken_over(now: Holder | None, seen: Holder, owner: str) -> Holder | None:
    """Return the row after a takeover, or None if it has changed since the challenger has `seen` it."""
    # The owner is not compared: a release in the meantime moves neither token nor heartbeat, and must not stop this.
    if now is None or (now.token, now.beat) != (seen.token, seen.beat):
        return None
    return Holder(owner, seen.token + 1)


def set_aside(now: Holder | None, seen: Holder | None) -> Holder | None:
    """Return the row after a run was taken from nobody or a dead owner, and left free; None if it has changed since.

    The token is issued to nobody: whoever saw the old row finds another one, and a dead owner's token is outdated.
    """
    if now is None or seen is None:
        return Holder("", token=1) if now is seen else None
    return taken_over(now, seen, "")


def released(now: Holder | None, token: int) -> Holder | None:
    """Return the row after a release, or None if the token is outdated."""
    return now._replace(owner="") if now is not None and now.token == token else None


def is_in_force(now: Holder | None, token: int) -> bool:
    """Whether events may be written under a token."""
    return now is not None and now.token == token and bool(now.owner)


class Watch(NamedTuple):
    """A challenger's watch over an owner in an unknown state; `until_s` is on the challenger's monotonic clock."""

    seen: Holder
    until_s: float

    def verdict(self, now: Holder | None, now_s: float) -> Literal["free", "alive", "watching", "dead"]:
        """Return the owner's state from the current row, at `now_s` of the challenger's clock."""
        if now is not None and not now.owner:
            return "free"
        if now is None or (now.token, now.beat) != (self.seen.token, self.seen.beat):
            return "alive"
        return "watching" if now_s < self.until_s else "dead"
