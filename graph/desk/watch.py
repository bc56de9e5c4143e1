"""Looks for changes in the database on behalf of all streams, as long as there is one (decision 79)."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from planner_executor.graph.desk.feed import Feed, Moment
from planner_executor.graph.desk.records import Records
from planner_executor.graph.errors import AgentError
from planner_executor.graph.record.run_key import RunKey

STREAM_S = 300.0
"""How long a stream lasts; the tab then opens another one, for which its session is checked again."""
OWNERS_S = 2.0
"""How often the owners of all watched runs are looked at, and the sessions: one that ends elsewhere writes no event."""
LEAST_S = 0.2
"""Seconds between two looks at least, however often the database announces news."""


@dataclass(frozen=True)
class Reader:
    """Whoever reads a stream: their session, None if each request names its sender, and its end in Unix seconds."""

    session: str | None = None
    ends_at: float | None = None


NOBODY = Reader()


@dataclass
class Watch:
    """The runs that streams show; `every_s` is how often the database is asked for changes, `lasts_s` how long a
    stream lasts."""

    records: Records
    every_s: float = 0.5
    lasts_s: float = STREAM_S
    feeds: dict[RunKey, Feed] = field(default_factory=dict)
    lists: int = 0
    readers: Counter[str] = field(default_factory=Counter)
    _over: set[str] = field(default_factory=set)
    _list_changes: int = 0
    _list_changed: asyncio.Event = field(default_factory=asyncio.Event)
    _task: "asyncio.Task[None] | None" = None

    async def follow(self, run: RunKey, reader: Reader = NOBODY) -> AsyncIterator[Moment]:
        """Yield a run as it is, and then after each change; changes between two looks come as one.

        Raises:
            AgentError: The run cannot be read.
        """
        feed = self.feeds.setdefault(run, Feed(self.records.runs.ledger, run))
        feed.readers += 1
        try:
            with self._reading(reader) as until_s:
                last = await feed.read()
                yield last
                while self._goes_on(reader, until_s):
                    # Taken before the look: a change that comes in between has set this one.
                    changed = feed.changed
                    if feed.now is None or feed.now is last:
                        await _at_most(changed, until_s)
                    else:
                        last = feed.now
                        yield last
        finally:
            feed.readers -= 1
            if not feed.readers:
                del self.feeds[run]
            self._end_if_alone()

    async def follow_list(self, reader: Reader = NOBODY) -> AsyncIterator[int]:
        """Yield a number at each change of any run."""
        self.lists += 1
        last = self._list_changes
        try:
            with self._reading(reader) as until_s:
                while self._goes_on(reader, until_s):
                    # Taken before the look, as in `follow`.
                    changed = self._list_changed
                    if self._list_changes == last:
                        await _at_most(changed, until_s)
                    else:
                        last = self._list_changes
                        yield last
        finally:
            self.lists -= 1
            self._end_if_alone()

    def end(self, session: str) -> None:
        """End the streams of a session."""
        if session in self.readers:
            self._over.add(session)
            for feed in self.feeds.values():
                feed.wake()
            self._wake_lists()

    @contextmanager
    def _reading(self, reader: Reader) -> Iterator[float]:
        """Count a reader, and yield until when they may read, on the monotonic clock."""
        lasts_s = self.lasts_s if reader.ends_at is None else min(self.lasts_s, reader.ends_at - time.time())
        if reader.session is not None:
            self.readers[reader.session] += 1
        self._begin()
        try:
            yield time.monotonic() + lasts_s
        finally:
            if reader.session is not None:
                self.readers[reader.session] -= 1
                if not self.readers[reader.session]:
                    del self.readers[reader.session]
                    self._over.discard(reader.session)

    def _goes_on(self, reader: Reader, until_s: float) -> bool:
        return time.monotonic() < until_s and reader.session not in self._over

    def _begin(self) -> None:
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._look())

    def _end_if_alone(self) -> None:
        if not self.feeds and not self.lists and self._task is not None:
            self._task.cancel()
            self._task = None

    async def _look(self) -> None:
        """Look until cancelled; after an error, the next look may succeed."""
        ledger, since, looked_s = self.records.runs.ledger, None, time.monotonic()
        while True:
            with suppress(AgentError):
                found = await ledger.changes(since)
                now_s = time.monotonic()
                # A database that cannot name all changed runs says so (decision 64); then all watched runs are read.
                all_due = not found.is_complete or now_s - looked_s >= OWNERS_S
                looked_s = now_s if all_due else looked_s
                await self._read(tuple(self.feeds) if all_due else found.runs)
                if all_due:
                    await self._end_readers()
                if found.runs or not found.is_complete:
                    self._notify_lists()
                # Last: after an error before this the same changes are looked at again.
                since = found.position
                await ledger.wait_for_news(self.every_s)
                await asyncio.sleep(now_s + min(LEAST_S, self.every_s) - time.monotonic())
                continue
            await asyncio.sleep(self.every_s)

    async def _read(self, runs: Iterable[RunKey]) -> None:
        for run in runs:
            if (feed := self.feeds.get(run)) is not None:
                with suppress(AgentError):  # it may be read at the next look
                    await feed.read()

    async def _end_readers(self) -> None:
        """End the streams of sessions that were signed out of, in this process or another."""
        for session in tuple(self.readers):
            if await self.records.runs.ledger.ended_sessions.has(session):
                self.end(session)

    def _notify_lists(self) -> None:
        self._list_changes += 1
        self._wake_lists()

    def _wake_lists(self) -> None:
        before, self._list_changed = self._list_changed, asyncio.Event()
        before.set()


async def _at_most(changed: asyncio.Event, until_s: float) -> None:
    """Wait for a change until that time of the monotonic clock."""
    with suppress(TimeoutError):
        async with asyncio.timeout(until_s - time.monotonic()):
            await changed.wait()
