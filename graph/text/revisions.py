"""The revisions of a run's plan: author, reason and changes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from planner_executor.graph.plan.plan_diff import PlanDiff
from planner_executor.graph.record.events import Event, PlanRevised
from planner_executor.graph.text.table import Bundle, table_bundle
from planner_executor.graph.words.rows import Rows
from planner_executor.graph.words.times import local_time

COLUMNS = ("revision", "at", "by", "why", "difference")


class Revision(NamedTuple):
    """One revision: number, time (Unix seconds), author, reason, and the difference from the one before."""

    number: int
    at: float
    author: str
    reason: str
    diff: PlanDiff


@dataclass(frozen=True)
class Revisions(Rows[Revision]):
    """All revisions, in order; a notebook shows them as a table."""

    def _repr_mimebundle_(self, **_: Any) -> Bundle:
        """Show a row for each revision."""
        return table_bundle(COLUMNS, [list(_row(one)) for one in self.rows])


def revisions_in(events: Sequence[Event]) -> Revisions:
    """Return the revisions in events."""
    return Revisions(
        tuple(
            Revision(data.revision, event.at, data.author, data.reason or "", data.diff)
            for event in events
            if isinstance(data := event.data_if_known, PlanRevised)
        )
    )


def _row(one: Revision) -> Iterator[str]:
    yield from (str(one.number), local_time(one.at), one.author, one.reason)
    diff = one.diff
    named = (("added", diff.added), ("changed", diff.changed), ("removed", diff.removed))
    told = [f"{word} {', '.join(ids)}" for word, ids in named if ids]
    yield "; ".join([*told, *(["changed the answer"] if diff.answer else [])]) or "none"
