"""The audit of a run: its events as readable text."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graph.record.artifacts import with_values
from graph.record.events import Event
from graph.text.event_text import SECTIONS, EventText, Section, event_text


@dataclass(frozen=True)
class Audit:
    """The events of a run; `artifacts` maps ids in the events to JSON texts."""

    run: str
    events: Sequence[Event]
    artifacts: Mapping[str, str]

    def only(self, *sections: Section) -> "Audit":
        """Return the audit restricted to sections; start, end and unknown events are always included."""
        wanted = set(sections or SECTIONS)
        return Audit(
            self.run, [event for event in self.events if wanted & set(event_text(event).sections)], self.artifacts
        )

    def lines(self) -> Iterator[str]:
        """Yield the audit by line: time of day, number and sentence of each event, followed by its details."""
        day = ""
        for event in self.events:
            words, today = self._told(event), time.strftime("%Y-%m-%d", time.localtime(event.at))
            if today != day:
                yield today
                day = today
            yield f"{time.strftime('%H:%M:%S', time.localtime(event.at))} {event.seq:>4}  {words.sentence}"
            yield from (f"{'':15}{detail}" for detail in words.details)

    def to_json(self) -> dict[str, Any]:
        """Return the complete events, each with its text, and their artifacts."""
        events = []
        for event in self.events:
            words = self._told(event)
            said = {"sections": list(words.sections), "told": [words.sentence, *words.details]}
            shown = {"seq": event.seq, "kind": event.kind, "step": event.step, "at": event.at}
            events.append({**shown, "payload": dict(event.payload), **said})
        return {"run": self.run, "events": events, "artifacts": dict(self.artifacts)}

    def _told(self, event: Event) -> EventText:
        return event_text(replace(event, payload=with_values(event.payload, self.artifacts)))

    def __str__(self) -> str:
        """Return the audit as text."""
        return "\n".join(self.lines())
