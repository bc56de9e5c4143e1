"""Result of a replay."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from planner_executor.graph.plain_text.sanitize import escaped
from planner_executor.graph.replay.comparison import Divergence
from planner_executor.graph.words.name_list import counted


class Replay(NamedTuple):
    """How far a run came out the same: `played` of its `events` came again, then came the `difference`, if any.

    `after` describes the result of another planner's plan, if one was asked. `redacted`: values were
    taken out of the record, so what rests on them can be compared by name only.
    """

    run: str
    events: int
    played: int
    difference: Divergence | None = None
    after: str | None = None
    redacted: bool = False

    @property
    def is_same(self) -> bool:
        """Whether every event came out the same."""
        return self.difference is None

    def lines(self) -> Iterator[str]:
        """Yield the report."""
        yield f"run {self.run}: {self.played} of {counted(self.events, 'event')} came out the same"
        if self.redacted:
            yield "values were taken out of the record: it is replayed without them"
        if self.difference is not None:
            yield escaped(str(self.difference))
        if self.after is not None:
            yield escaped(f"after that: {self.after}")
        yield "every decision came out the same" if self.is_same else "the replay DIFFERS from the record"

    def to_json(self) -> dict[str, Any]:
        """Return the report as data."""
        difference = self.difference.to_json() if self.difference else None
        counts = {"events": self.events, "played": self.played}
        about = {"difference": difference, "after": self.after, "redacted": self.redacted}
        return {"run": self.run, "same": self.is_same, **counts, **about}

    def __str__(self) -> str:
        """Return the report."""
        return "\n".join(self.lines())
