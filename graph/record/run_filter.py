"""Filter and page of a list of runs."""

from dataclasses import dataclass


@dataclass(frozen=True)
class RunFilter:
    """Conditions that all runs of a page meet; unset ones are ignored.

    `status` is a run status, `since` the earliest start in Unix seconds, `text` a part of the goal or of the thread's
    name; the case of ASCII letters is ignored. The page has at most `limit` runs, the latest first, and begins after
    the run named `before`.
    """

    status: str | None = None
    tag: str | None = None
    since: float | None = None
    text: str | None = None
    limit: int = 50
    before: str | None = None
