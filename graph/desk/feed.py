"""The messages for the streams of a run: read, projected and formatted once for all streams (decision 79)."""

import asyncio
import json
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from planner_executor.graph.desk.threads import on_thread
from planner_executor.graph.ledger.run_store import RunStore
from planner_executor.graph.record.events import Event, ValueRedacted
from planner_executor.graph.record.projection import apply_events, known
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.runs.run import run_of
from planner_executor.graph.text.event_text import event_text

MOST_EVENTS = 200
"""Events in one message; a tab that missed more is referred to the audit."""

Position = tuple[int, bool]
"""The number of a run's last event, and whether a process executes it."""
EventLine = tuple[int, float, str]
"""An event in a message: number, Unix seconds, sentence."""


@dataclass(frozen=True)
class Moment:
    """A run at one moment; `steps` has the status of each step, `events` the last events, at most `MOST_EVENTS`."""

    position: Position
    status: str
    revision: int
    steps: Mapping[str, str]
    events: Sequence[EventLine]
    _messages: dict[tuple[int, Position | None], str] = field(default_factory=dict, compare=False, repr=False)

    @property
    def seq(self) -> int:
        """The number of the last event."""
        return self.position[0]

    def message(self, seen: int, before: "Moment | None") -> str:
        """Return what a stream does not know yet, as JSON; streams that know the same share the text.

        Args:
            seen: The number of the last event that the stream's tab has.
            before: The moment of the stream's last message.
        """
        known_to_it = (seen, before.position if before is not None else None)
        if known_to_it not in self._messages:
            self._messages.clear()  # streams are at the same event or new: an older message is needed no more
            self._messages[known_to_it] = self._to_json(seen, before.steps if before is not None else {})
        return self._messages[known_to_it]

    def _to_json(self, seen: int, steps: Mapping[str, str]) -> str:
        lines = [event for event in self.events if event[0] > seen]
        message = {
            "status": self.status,
            "executing": self.position[1],
            "revision": self.revision,
            "steps": {step: status for step, status in self.steps.items() if steps.get(step) != status},
            "events": lines,
            "left_out": max(0, self.seq - seen - len(lines)),
        }
        return json.dumps(message)


class Feed:
    """A run that streams show. It keeps the run's state, but no more events than a message has."""

    def __init__(self, ledger: RunStore, run: RunKey) -> None:
        self._ledger, self._run = ledger, run
        self._reading = asyncio.Lock()
        self._forget()
        self.now: Moment | None = None
        self.changed = asyncio.Event()
        self.readers = 0

    async def read(self) -> Moment:
        """Read what is new, wake those who wait for a change, and return the run as it is now.

        Raises:
            AgentError: The run cannot be read.
        """
        async with self._reading:
            news = await self._ledger.events(self._run, after=self._seq)
            if self._seq and any(event.kind == ValueRedacted.kind for event in news):  # it changes earlier events
                self._forget()
                news = await self._ledger.events(self._run)
            await on_thread(lambda: self._apply(news))
            position = self._seq, await self._ledger.is_worked_on(self._run)
            if self.now is None or self.now.position != position:
                self.now = await on_thread(lambda: self._moment(position))
                self.wake()
            return self.now

    def wake(self) -> None:
        """Let all streams look whether they have something to do."""
        # A new event for each change: a stream that holds the old one cannot miss what comes while it sends.
        before, self.changed = self.changed, asyncio.Event()
        before.set()

    def _forget(self) -> None:
        self._state, self._seq = RunState(), 0
        self._lines: deque[EventLine] = deque(maxlen=MOST_EVENTS)

    def _apply(self, news: Sequence[Event]) -> None:
        if news:
            apply_events(self._state, known(news))
            self._lines.extend(_lines(news[-MOST_EVENTS:]))
            self._seq = news[-1].seq

    def _moment(self, position: Position) -> Moment:
        run = run_of(self._state, worked_on=position[1])
        return Moment(position, run.status, run.revision, run.step_status, tuple(self._lines))


def _lines(events: Iterable[Event]) -> Iterable[EventLine]:
    return ((event.seq, event.at, event_text(event).sentence) for event in events)
