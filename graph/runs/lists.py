"""The events of a run, in order."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from planner_executor.graph.record.events import Event
from planner_executor.graph.runs.run import Run
from planner_executor.graph.text.event_text import event_line
from planner_executor.graph.text.revisions import Revisions, revisions_in


@dataclass(frozen=True)
class Log:
    """A run and its events, in order."""

    run: Run
    events: Sequence[Event]

    def __iter__(self) -> Iterator[Event]:
        return iter(self.events)

    def __len__(self) -> int:
        return len(self.events)

    @property
    def revisions(self) -> Revisions:
        """The revisions of the plan, with their differences."""
        return revisions_in(self.events)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """Draw when each step ran; the text is one line per event."""
        from planner_executor.graph.text.html import scrolled  # most runs are read in no notebook
        from planner_executor.graph.text.timeline import timeline_svg

        text = "\n".join(event_line(event) for event in self.events)
        svg = timeline_svg(self.run.step_status, self.run.results)
        return {"text/html": scrolled(svg), "image/svg+xml": svg, "text/plain": text}
