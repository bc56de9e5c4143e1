"""The ledger in memory, for graphs without a file: plain structures and a lock, gone with their last user."""

import asyncio
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from math import inf
from pathlib import Path

from planner_executor.graph.errors import InputError
from planner_executor.graph.ledger.erasure import thread_erasure
from planner_executor.graph.ledger.memory.ended_sessions import MemoryEndedSessions
from planner_executor.graph.ledger.memory.erasure import erase, places_of
from planner_executor.graph.ledger.memory.event_store import EventStore
from planner_executor.graph.ledger.memory.outbox import MemoryOutbox
from planner_executor.graph.ledger.memory.removal import remove
from planner_executor.graph.ledger.memory.store import StoredRun
from planner_executor.graph.ledger.memory.timetable import MemoryTimetable
from planner_executor.graph.ledger.owner import is_gone, may_live
from planner_executor.graph.ledger.protocol import Message
from planner_executor.graph.ledger.replaced_owner import replacement
from planner_executor.graph.ledger.run_index import Unfinished
from planner_executor.graph.ledger.run_store import Changes, Health, Redacted, Removal
from planner_executor.graph.ledger.search import (
    CANDIDATES,
    UNDER_WAY,
    UNFINISHED,
    as_shown,
    matches,
    value_in_order,
)
from planner_executor.graph.ledger.tombstone import Tombstones
from planner_executor.graph.ledger.transcript import Transcript
from planner_executor.graph.record.counters import Counters, waiting_gauges
from planner_executor.graph.record.events import StandingGiven
from planner_executor.graph.record.run_filter import RunFilter
from planner_executor.graph.record.run_key import RunKey, run_in
from planner_executor.graph.record.summary import PERSON, RunSummary
from planner_executor.graph.record.waiting_filter import ALL, Waiting, WaitingFilter


class MemoryLedger(EventStore):
    """See `graph.ledger.run_store.RunStore`; the nodes' side is `EventStore`. Whatever may take long has a thread."""

    async def post(self, run: RunKey, message: Message) -> None:
        """Leave a message for the run's current or next owner."""

        def leave() -> None:
            message.encode()
            self._store.run(self.name, run).inbox.append(message)

        await self._do(leave)

    async def is_worked_on(self, run: RunKey) -> bool:
        """Whether the run has an owner that is not known to be dead."""
        holder = await self._do(lambda: self._store.run(self.name, run).holder)
        return holder is not None and await asyncio.to_thread(may_live, holder.owner)

    async def transcript(self, run: RunKey) -> Transcript:
        """Return everything that is stored of a run."""
        return await self._do(lambda: self._store.transcript(self._store.run(self.name, run)))

    async def adopt(self, runs: Sequence[Transcript]) -> None:
        """Store the runs of a thread as another database has them."""
        await self._do(lambda: self._store.adopt(self.name, runs))

    async def _erased(self, thread: str, runs: Sequence[RunKey], value: str, by: str, reason: str) -> Redacted:  # noqa: ARG002  (`runs` are all of it)
        transcripts = [await self.transcript(run) for run in runs]
        found = await asyncio.to_thread(thread_erasure, self.name, transcripts, value)
        changed, approvals = await self._do(lambda: erase(self._store, self.name, self._key, runs, found, by, reason))
        return Redacted(changed, len(found.artifacts), 0, approvals)

    async def _compacted(self, forms: Sequence[str]) -> list[str]:
        return await asyncio.to_thread(lambda: list(places_of(self._store, forms)))

    async def remove(self, threads: Sequence[Sequence[Transcript]], by: str) -> Sequence[Removal]:
        """Remove threads, and return for each its tombstone, or what keeps it."""
        return await self._do(lambda: remove(self._store, self.name, self._key, threads, time.time(), by))

    async def tombstones(self, name: str | None = None) -> Tombstones:
        """Return what remains of removed threads, or of those that a name may mean."""
        return await self._do(lambda: self._store.tombstones if name is None else self._store.tombstones.meant_by(name))

    async def forks(self, thread: str) -> list[tuple[RunKey, str]]:
        """Return the forks in the family of a thread, each with the name of the run that it is a fork of."""
        return await self._do(lambda: self._store.forks_of(thread))

    async def give_back(self) -> bool:
        """Do nothing: there is no file."""
        return True

    async def back_up(self, file: Path) -> None:  # noqa: ARG002  (the signature of all ledgers)
        """Refuse: there is no file."""
        raise InputError("file", "a ledger in memory has no file to back up; export its runs")

    async def runs(self) -> list[RunKey]:
        """Return all runs, the latest first."""
        return [run.key for run in await self._all()]

    async def numbers(self, thread: str) -> list[int]:
        """Return the numbers of the thread's runs, in order."""
        return await self._do(lambda: [run.key.n for run in self._store.of_thread(thread)])

    async def named(self, name: str) -> list[RunKey]:
        """Return the run of that id, or the latest of that thread, or of each of a few threads that begin so."""
        # In reverse, so that of the runs of one thread the first in the list stays.
        last = {run.key.thread: run.key for run in reversed(await self._all())}
        run = run_in(name)
        if run is not None and await self._do(lambda: self._store.find(run)) is not None:
            return [run]
        # An exact name is never taken for the beginning of another.
        if name in last or not name:
            return [last[name]] if name in last else []
        return [last[thread] for thread in sorted(last) if thread.startswith(name)][:CANDIDATES]

    async def page(self, wanted: RunFilter) -> list[RunSummary]:
        """Return a page of the index of runs, the latest first."""
        runs = await self._all()
        if wanted.order != "latest":
            runs.sort(key=lambda run: value_in_order(run.summary, wanted.order) if run.summary else 0.0, reverse=True)
        if wanted.before is not None:
            behind = next((place for place, run in enumerate(runs, 1) if run.key.id == wanted.before), len(runs))
            runs = runs[behind:]
        return await asyncio.to_thread(lambda: list(islice(_matching(runs, wanted), wanted.limit)))

    async def summaries(self, runs: Sequence[RunKey]) -> list[RunSummary]:
        """Return the rows of these runs in the index."""
        found = await self._do(lambda: [self._store.find(run) for run in runs])
        return [run.summary for run in found if run is not None and run.summary is not None]

    @property
    def ended_sessions(self) -> MemoryEndedSessions:
        """The sessions of the review desk that were signed out of."""
        return self._store.ended_sessions

    @property
    def timetable(self) -> MemoryTimetable:
        """The next moments of schedules."""
        return self._store.timetable

    @property
    def outbox(self) -> MemoryOutbox:
        """The deliveries of notices."""
        return self._store.outbox

    async def waiting(self, limit: int, wanted: WaitingFilter = ALL, after: Waiting | None = None) -> list[RunSummary]:
        """Return rows of runs that wait for a person and are wanted, in the order of the filter."""
        numbers = {run.key: number for number, run in enumerate(reversed(await self._all()))}
        rows = {
            (wanted.place(row).value, numbers[RunKey(row.thread, row.n)]): row for row in await self._waiting(wanted)
        }
        behind = (after.value, numbers.get(RunKey(after.thread, after.n), -1)) if after is not None else (-inf, 0)
        return [rows[place] for place in sorted(rows) if place > behind][:limit]

    async def waiting_count(self, wanted: WaitingFilter = ALL) -> int:
        """Return how many of them there are."""
        return len(await self._waiting(wanted))

    async def _waiting(self, wanted: WaitingFilter) -> list[RunSummary]:
        rows = [run.summary for run in await self._all() if run.summary is not None]
        return [row for row in rows if row.waits_for == PERSON and wanted.has(row)]

    async def due(self, limit: int, offset: int = 0) -> list[RunKey]:
        """Return runs whose open request has something due."""
        now, rows = await self.now(), [(run.summary, run.key) for run in await self._all() if run.summary is not None]
        found = [(row.due_at, key) for row, key in rows if row.due_at is not None and row.due_at <= now]
        return [key for _, key in sorted(found, key=lambda one: one[0])][offset : offset + limit]

    async def with_approvals(self, limit: int, before: RunKey | None = None) -> list[RunKey]:
        """Return runs that have not ended and were given standing approvals of their own, the latest first."""
        runs = await self._all()
        keys = [run.key for run in runs]
        behind = runs if before is None else runs[keys.index(before) + 1 :] if before in keys else []
        return list(islice((run.key for run in behind if _has_approvals(run)), limit))

    async def unfinished(self) -> list[Unfinished]:
        """Return the runs that are planned, executed or paused, the oldest first."""
        runs = reversed(await self._all())
        return await asyncio.to_thread(lambda: [*_unfinished(runs)])

    async def set_aside(self, found: Unfinished) -> bool:
        """Take a run from nobody, or from a dead owner, and leave it free."""

        def do() -> bool:
            stored = self._store.run(self.name, found.run)
            left, is_free = stored.holder, stored.free(found.holder)
            if is_free:
                self._write(stored, replacement(left))
            return is_free

        return await self._do(do)

    async def changes(self, since: str | None = None) -> Changes:
        """Return the runs with new events since a position, and the position now."""

        def changed() -> Changes:
            number = self._store.changes if since is None else int(since)
            runs = (run.key for run in self._store.runs if run.changed > number)
            return Changes(tuple(runs), str(self._store.changes))

        return await self._do(changed)

    async def wait_for_news(self, most_s: float) -> None:
        """Return after `most_s` seconds."""
        await asyncio.sleep(most_s)

    async def counters(self) -> Counters:
        """Return the counters over all runs."""
        runs, counts = await self._all(), await self._do(lambda: dict(self._store.counts))
        summaries = [run.summary for run in runs if run.summary is not None]
        return Counters(counts, waiting_gauges(_waits(summaries, time.time())))

    async def reindex(self) -> int:
        """Make the index of runs anew from their events, and return how many there are."""

        def rebuild() -> int:
            self._store.counts.clear()
            self._store.counts.update(self._store.carried)
            self._store.history.clear()
            for run in self._store.runs:
                run.fold, whole = run.folded()
                self._store.index(run, whole)
            return len(self._store.runs)

        return await self._do(rebuild)

    async def misindexed(self) -> list[str]:
        """Return the names of the runs whose index row does not match their events."""
        return [run.key.id for run in reversed(await self._all()) if run.summary != run.folded()[1].row]

    async def health(self) -> Health:
        """Return the sizes; memory has no damage."""
        runs, artifacts = await self._all(), await self._do(lambda: dict(self._store.artifacts))
        payloads = [row.payload for run in runs for row in run.rows]
        tables = {"ledger_events": _content(payloads), "ledger_artifacts": _content([*artifacts.values()])}
        open_runs = [run for run in reversed(runs) if run.summary is not None and run.summary.status in UNDER_WAY]
        dead = await asyncio.to_thread(lambda: tuple(run.key.id for run in open_runs if _is_dead(run)))
        return Health(file=0, write_ahead_log=0, runs=len(runs), tables=tables, damage=(), dead=dead)

    async def _all(self) -> list[StoredRun]:
        """Return all runs, the latest first."""
        return await self._do(lambda: self._store.runs[::-1])


def _matching(runs: Sequence[StoredRun], wanted: RunFilter) -> Iterator[RunSummary]:
    for run in runs:
        if run.summary is None:
            continue
        shown = as_shown(run.summary, run.holder is not None and may_live(run.holder.owner))
        if matches(shown, wanted):
            yield shown


def _unfinished(runs: Iterable[StoredRun]) -> Iterator[Unfinished]:
    for run in runs:
        if run.summary is not None and run.summary.status in UNFINISHED:
            yield Unfinished(run.key, run.summary.seq, run.look(), _is_dead(run))


def _has_approvals(run: StoredRun) -> bool:
    is_under_way = run.summary is not None and run.summary.status in UNDER_WAY
    return is_under_way and any(row.kind == StandingGiven.kind for row in run.rows)


def _waits(summaries: Sequence[RunSummary], now: float) -> Iterator[tuple[str, int, float]]:
    """Yield what runs wait for, how many do, and the longest wait in seconds."""
    for waits_for in sorted({run.waits_for for run in summaries if run.waits_for is not None}):
        since = [run.waiting_since for run in summaries if run.waits_for == waits_for and run.waiting_since is not None]
        yield waits_for, len(since), now - min(since, default=now)


def _is_dead(run: StoredRun) -> bool:
    return run.holder is not None and is_gone(run.holder.owner)


def _content(texts: Sequence[str]) -> tuple[int, int]:
    return len(texts), sum(len(text.encode()) for text in texts)
