"""Filter and page of a list of runs."""

from dataclasses import dataclass


@dataclass(frozen=True)
class RunFilter:
    """Conditions that all runs of a page meet; unset ones are ignored.

    `status` is one of the statuses that a run shows, `since` the earliest start in Unix seconds, `text` a part of
    the goal or of the thread's name, in any case of ASCII letters at least. The page holds at most `limit` runs,
    the latest first, and begins behind the run named `before`.
    """

    status: str | None = None
    tag: str | None = None
    since: float | None = None
    text: str | None = None
    limit: int = 50
    before: str | None = None
