"""The audit of a run: its events as readable text."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from pydantic import ValidationError

from planner_executor.graph.plain_text.sanitize import escaped
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.record.artifacts import with_values
from planner_executor.graph.record.events import Event
from planner_executor.graph.record.step_costs import step_costs
from planner_executor.graph.record.summarizer import Summarizer
from planner_executor.graph.text.event_text import SECTIONS, EventText, Section, event_text


class Audit(NamedTuple):
    """The events of a run; `artifacts` has the JSON texts of artifacts by id.

    A whole audit (`is_whole`) also has costs and unjudged criteria.
    """

    run: str
    events: Sequence[Event]
    artifacts: Mapping[str, str]
    is_whole: bool = True

    def only(self, *sections: Section) -> "Audit":
        """Return the audit restricted to sections; start, end and unknown events are always included."""
        wanted = set(sections or SECTIONS)
        # Which sections an event is in follows from its kind, so no artifact is read for those left out.
        chosen = [event for event in self.events if wanted & set(event_text(event).sections)]
        return Audit(self.run, chosen, self.artifacts, is_whole=self.is_whole and wanted == set(SECTIONS))

    def lines(self) -> Iterator[str]:
        """Yield the audit line by line: time of day, number and sentence of each event, then its details."""
        day = ""
        for event in self.events:
            words, today = self._event_text(event), time.strftime("%Y-%m-%d", time.localtime(event.at))
            if today != day:
                yield today
                day = today
            yield f"{time.strftime('%H:%M:%S', time.localtime(event.at))} {event.seq:>4}  {words.sentence}"
            yield from (f"{'':15}{detail}" for detail in words.details)
        if not self.is_whole:
            return
        if costs := step_costs(self.events):
            yield "cost per step"
            yield from (f"{'':15}{escaped(step)}: {cost}" for step, cost in costs.items())
        if unjudged := unjudged_steps(self.events):
            yield f"success criteria not judged: {', '.join(unjudged)}"

    def to_json(self) -> dict[str, Any]:
        """Return the complete events, each with its text, and their artifacts."""
        # The payload stays as it is on record; only its words have the values of artifacts.
        events = []
        for event in self.events:
            words = self._event_text(event)
            text = {"sections": list(words.sections), "told": [words.sentence, *words.details]}
            shown = {"seq": event.seq, "kind": event.kind, "step": event.step, "at": event.at}
            events.append({**shown, "payload": dict(event.payload), **text})
        return {
            "run": self.run,
            "events": events,
            "artifacts": dict(self.artifacts),
            **(self._in_sum() if self.is_whole else {}),
        }

    def _in_sum(self) -> dict[str, Any]:
        costs = {step: cost.to_json() for step, cost in step_costs(self.events).items()}
        return {"costs": costs, "unjudged": unjudged_steps(self.events)}

    def _event_text(self, event: Event) -> EventText:
        return event_text(replace(event, payload=with_values(event.payload, self.artifacts)))

    def __str__(self) -> str:
        """Return the audit as text."""
        return "\n".join(self.lines())


def unjudged_steps(events: Sequence[Event]) -> list[str]:
    """Return the steps that `Steps.unjudged` names after these events, some of which may be unreadable."""
    record = Summarizer("", 0).apply(events).record
    try:
        return record.steps.unjudged(Plan.model_validate(record.plan_state.plan or {}))
    except ValidationError:  # a redaction may have left no plan
        return []
