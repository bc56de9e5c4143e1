"""The next moment of a schedule, as the database keeps it for all workers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Moment:
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

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return dict(vars(self))

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> "Moment":
        """Read the output of `to_json`.

        Raises:
            TypeError: It is malformed.
        """
        return cls(**raw)
