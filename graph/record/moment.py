"""The next moment of a schedule, as the database keeps it for all workers."""

from typing import NamedTuple


class Moment(NamedTuple):
    """When a schedule is due next, in Unix seconds, and the thread on which its run starts then.

    `rule` is its expression with the time zone. A worker `taken_at` this time begins the run, unless it died since.
    `waits`: it was due while the run before it, on the thread `last`, had not ended.
    """

    schedule: str
    rule: str
    due_at: float
    thread: str
    taken_at: float | None = None
    waits: bool = False
    last: str | None = None
