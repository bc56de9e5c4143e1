"""Pages of runs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from planner_executor.graph.record.run_filter import RunFilter
from planner_executor.graph.record.summary import RunSummary
from planner_executor.graph.words.rows import Rows


@dataclass(frozen=True)
class RunPage(Rows[RunSummary]):
    """Some runs, the latest first; `next` is the value of `before` for the next page, None after the last."""

    next: str | None = None

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """Show a row for each run."""
        from planner_executor.graph.text.run_view import runs_bundle  # most pages are in no notebook

        return runs_bundle(self.rows, self.next)


def one_more(wanted: RunFilter) -> RunFilter:
    """Return a filter for a run more, which says whether there is a next page."""
    return replace(wanted, limit=wanted.limit + 1)


def page_of(found: Sequence[RunSummary], wanted: RunFilter) -> RunPage:
    """Return the page of what `one_more` found."""
    runs = tuple(found[: wanted.limit])
    return RunPage(runs, runs[-1].id if len(found) > wanted.limit else None)
