"""What a worker does about the next moment of a schedule: a rule on values, without a clock (decision 163)."""

from collections.abc import Callable
from typing import Literal

from planner_executor.graph.playbooks.schedule import Schedule
from planner_executor.graph.record.moment import Moment

LATE_S = 300.0
"""A moment that no worker has taken so long after it was missed."""
HOLD_S = 60.0
"""A worker that has taken a moment begins its run within this time, or it died."""
Move = Literal["rest", "start", "started", "missed", "overlaps", "waits", "new"]


def first_moment(schedule: Schedule, now: float, thread: str) -> Moment:
    """Return the first moment of a schedule that a worker sees at a time, in Unix seconds."""
    return Moment(schedule.name, schedule.rule, schedule.next_after(now), thread)


def moment_after(moment: Moment, schedule: Schedule, now: float, thread: str) -> Moment:
    """Return the moment after one, which has started nothing, at a time in Unix seconds."""
    return Moment(schedule.name, schedule.rule, schedule.next_after(max(now, moment.due_at)), thread, last=moment.last)


def move_at(
    moment: Moment,
    schedule: Schedule,
    now: float,
    *,
    is_begun: bool,
    is_running: bool,
    new_thread: Callable[[], str],
) -> tuple[Move, Moment]:
    """Return what is done about a moment, and the moment that takes its place.

    Args:
        moment: The moment.
        schedule: Its schedule as the settings have it now.
        now: The time, in Unix seconds.
        is_begun: Whether its run is on record.
        is_running: Whether the run before it is on record and has not ended.
        new_thread: Returns the name of a thread that nobody knows.
    """
    # Before all else: whoever took the moment may have died after the run began, and it must not begin twice.
    if is_begun:
        return "started", moment_after(moment, schedule, now, new_thread())._replace(last=moment.thread)
    if moment.rule != schedule.rule:
        return "new", first_moment(schedule, now, new_thread())._replace(last=moment.last)
    if moment.due_at > now or (moment.taken_at is not None and now < moment.taken_at + HOLD_S):
        return "rest", moment
    # A moment that some worker has seen in time is not missed, however long it has waited since.
    was_seen = moment.waits or moment.taken_at is not None
    if not was_seen and now > moment.due_at + LATE_S and schedule.missed == "skip":
        return "missed", moment_after(moment, schedule, now, new_thread())
    if is_running and schedule.overlap == "skip":
        return "overlaps", moment_after(moment, schedule, now, new_thread())
    if is_running:
        return ("rest" if moment.waits else "waits"), moment._replace(waits=True)
    return "start", moment._replace(taken_at=now)
