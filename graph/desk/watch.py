"""Watches the database for all streams at once, as long as there is one (decision 79)."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field

from graph.desk.records import Records
from graph.errors import AgentError
from graph.ledger.protocol import RunKey

Position = tuple[int, bool]
"""The number of a run's last event, and whether a process executes it."""

STREAM_S = 300.0
"""How long a stream lasts; the tab goes on with another one, for which its session is checked again."""
OWNERS_S = 2.0
"""How often the owners of all watched runs are looked at: one that dies writes no event."""


@dataclass
class Watch:
    """Where the runs that streams show stand; `every_s` is how often the database is asked for changes,
    `lasts_s` how long a stream lasts."""

    records: Records
    every_s: float = 0.5
    lasts_s: float = STREAM_S
    readers: "Counter[RunKey]" = field(default_factory=Counter)
    lists: int = 0
    _positions: dict[RunKey, Position] = field(default_factory=dict)
    _list_changes: int = 0
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _task: "asyncio.Task[None] | None" = None

    async def follow(self, run: RunKey) -> AsyncIterator[Position]:
        """Yield where a run stands, and then each change of it; changes between two looks come as one.

        Raises:
            AgentError: The run cannot be read.
        """
        self.readers[run] += 1
        self._begin()
        try:
            last = self._positions[run] = await self.records.position(run)
            yield last
            until_s = time.monotonic() + self.lasts_s
            while time.monotonic() < until_s:
                changed = self._changed
                if (now := self._positions[run]) != last:
                    last = now
                    yield last
                    continue
                await _at_most(changed, until_s)
        finally:
            self.readers[run] -= 1
            if not self.readers[run]:
                del self.readers[run], self._positions[run]
            self._end_if_alone()

    async def follow_list(self) -> AsyncIterator[int]:
        """Yield a number at each change of any run."""
        self.lists += 1
        self._begin()
        last, until_s = self._list_changes, time.monotonic() + self.lasts_s
        try:
            while time.monotonic() < until_s:
                changed = self._changed
                if self._list_changes != last:
                    last = self._list_changes
                    yield last
                    continue
                await _at_most(changed, until_s)
        finally:
            self.lists -= 1
            self._end_if_alone()

    def _begin(self) -> None:
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._look())

    def _end_if_alone(self) -> None:
        if not self.readers and not self.lists and self._task is not None:
            self._task.cancel()
            self._task = None

    async def _look(self) -> None:
        """Look again and again; a database that cannot be read now may be read later."""
        ledger, since, looked_s = self.records.runs.ledger, None, time.monotonic()
        while True:
            with suppress(AgentError):
                found = await ledger.changes(since)
                now_s = time.monotonic()
                all_due = not found.is_complete or now_s - looked_s >= OWNERS_S
                looked_s = now_s if all_due else looked_s
                if since is not None or all_due:
                    await self._read(
                        list(self.readers) if all_due else [run for run in found.runs if run in self.readers]
                    )
                    self._list_changes += bool(found.runs) or not found.is_complete
                    before, self._changed = self._changed, asyncio.Event()
                    before.set()
                since = found.position
                await ledger.wait_for_news(self.every_s)
                continue
            await asyncio.sleep(self.every_s)

    async def _read(self, runs: list[RunKey]) -> None:
        for run in runs:
            with suppress(AgentError):  # the stream reads the run itself, and tells of it
                position = await self.records.position(run)
                if run in self.readers:
                    self._positions[run] = position


async def _at_most(changed: asyncio.Event, until_s: float) -> None:
    """Wait for a change until that time of the monotonic clock."""
    with suppress(TimeoutError):
        await asyncio.wait_for(changed.wait(), max(0.0, until_s - time.monotonic()))
