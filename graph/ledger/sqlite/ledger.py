"""The ledger in an SQLite file."""

import asyncio
import sqlite3
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

from planner_executor.graph.ledger.erasure import redactor_of
from planner_executor.graph.ledger.owner import may_live, replacement
from planner_executor.graph.ledger.protocol import Message, RunKey
from planner_executor.graph.ledger.run_store import Changes, Health, Redacted, Unfinished, Waiting
from planner_executor.graph.ledger.sqlite.adoption import adopt
from planner_executor.graph.ledger.sqlite.changes import changes
from planner_executor.graph.ledger.sqlite.ended_sessions import SqliteEndedSessions
from planner_executor.graph.ledger.sqlite.erasure import erase
from planner_executor.graph.ledger.sqlite.event_store import EventStore
from planner_executor.graph.ledger.sqlite.health import examine
from planner_executor.graph.ledger.sqlite.lease import free, look
from planner_executor.graph.ledger.sqlite.outbox import SqliteOutbox
from planner_executor.graph.ledger.sqlite.queries import forks_of, head_of, numbers_of, run_id_of, transcript_of
from planner_executor.graph.ledger.sqlite.removal import remove, tombstones_of
from planner_executor.graph.ledger.sqlite.run_index import differences, rebuild
from planner_executor.graph.ledger.sqlite.run_search import (
    counters,
    due,
    page,
    run_named,
    summaries,
    unfinished,
    waiting,
    with_approvals,
)
from planner_executor.graph.ledger.sqlite.vacuum import places_of
from planner_executor.graph.ledger.tombstone import Tombstone, Tombstones
from planner_executor.graph.ledger.transcript import Transcript
from planner_executor.graph.record.counters import Counters
from planner_executor.graph.record.run_filter import RunFilter
from planner_executor.graph.record.summary import RunSummary


class SqliteLedger(EventStore):
    """See `graph.ledger.run_store.RunStore`; the nodes' side is `EventStore`."""

    async def post(self, run: RunKey, message: Message) -> None:
        """Leave a message for the run's current or next owner."""
        query = "INSERT INTO ledger_inbox (run, message) VALUES (?, ?)"
        await self._file.do(lambda db: db.execute(query, (run_id_of(db, run), message)), full=True)

    async def is_worked_on(self, run: RunKey) -> bool:
        """Whether the run has an owner that is not known to be dead."""

        def is_held(db: sqlite3.Connection) -> bool:
            seen = look(db, run_id_of(db, run))
            return seen is not None and may_live(seen.owner)

        return await self._file.look(is_held)

    async def transcript(self, run: RunKey) -> Transcript:
        """Return everything that is stored of a run."""
        return await self._file.look(partial(transcript_of, run=run))

    async def adopt(self, runs: Sequence[Transcript]) -> None:
        """Store the runs of a thread as another database has them."""
        await self._file.do(lambda db: adopt(db, self.name, runs), full=True)

    async def redact(self, thread: str, value: str, by: str, reason: str) -> Redacted:
        """Take a value out of all that is kept of a thread, and out of the file."""
        forms = redactor_of(value).forms
        runs = [RunKey(thread, n) for n in await self.numbers(thread)]
        async with AsyncExitStack() as owned:
            for run in runs:
                await owned.enter_async_context(self.owned(run))
            erased = partial(erase, writer=self._writer, thread=thread, runs=runs, value=value, by=by, reason=reason)
            done: Redacted = await self._file.do(erased, full=True)
        await self._file.compact()
        return replace(done, remaining=tuple(await self._file.look(lambda db: places_of(db, forms))))

    async def remove(self, runs: Sequence[Transcript], by: str) -> Tombstone:
        """Remove a thread, and return its tombstone."""
        removed = partial(remove, writer=self._writer, runs=runs, at=time.time(), by=by)
        return await self._file.do(removed, full=True)

    async def tombstones(self, name: str | None = None) -> Tombstones:
        """Return what remains of removed threads, or of those that a name may mean."""
        return await self._file.look(partial(tombstones_of, name=name))

    async def forks(self) -> list[tuple[RunKey, str]]:
        """Return the forks, each with the name of the run that it is a fork of."""
        return await self._file.look(forks_of)

    async def give_back(self) -> bool:
        """Return the space of removed rows to the file system."""
        return await self._file.give_back()

    async def back_up(self, file: Path) -> None:
        """Copy the database, with LangGraph's checkpoints in it, to a new file."""
        await self._file.back_up(file)

    async def runs(self) -> list[RunKey]:
        """Return all runs, the latest first."""
        found = await self._file.look(
            lambda db: db.execute("SELECT thread, n FROM ledger_runs ORDER BY id DESC").fetchall()
        )
        return [RunKey(thread, n) for thread, n in found]

    async def numbers(self, thread: str) -> list[int]:
        """Return the numbers of the thread's runs, in order."""
        return await self._file.look(partial(numbers_of, thread=thread))

    async def named(self, name: str) -> list[RunKey]:
        """Return the run of that id, or the latest of that thread, or of each of a few threads that begin so."""
        return await self._file.look(partial(run_named, name=name))

    async def page(self, wanted: RunFilter) -> list[RunSummary]:
        """Return a page of the index of runs, the latest first."""
        return await self._file.look(partial(page, wanted=wanted))

    async def summaries(self, runs: Sequence[RunKey]) -> list[RunSummary]:
        """Return the rows of these runs in the index."""
        return await self._file.look(partial(summaries, runs=runs))

    @property
    def ended_sessions(self) -> SqliteEndedSessions:
        """The sessions of the review desk that were signed out of."""
        return SqliteEndedSessions(self._file)

    @property
    def outbox(self) -> SqliteOutbox:
        """The deliveries of notices."""
        return SqliteOutbox(self._file)

    async def waiting(self, limit: int, after: Waiting | None = None) -> list[RunSummary]:
        """Return rows of runs that wait for a person, the longest wait first."""
        return await self._file.look(lambda db: waiting(db, limit, after))

    async def due(self, limit: int, offset: int = 0) -> list[RunKey]:
        """Return runs whose open request has something due."""
        now = await self.now()
        return await self._file.look(lambda db: due(db, now, limit, offset))

    async def with_approvals(self, limit: int, before: RunKey | None = None) -> list[RunKey]:
        """Return runs that have not ended and were given standing approvals of their own, the latest first."""
        return await self._file.look(lambda db: with_approvals(db, limit, before))

    async def unfinished(self) -> list[Unfinished]:
        """Return the runs that are planned, executed or paused, the oldest first."""
        return await self._file.look(unfinished)

    async def set_aside(self, found: Unfinished) -> bool:
        """Take a run from nobody, or from a dead owner, and leave it free."""
        run = found.run

        def do(db: sqlite3.Connection) -> bool:
            left = head_of(db, run, run_id_of(db, run))
            is_free = free(db, run, left.run_id, found.holder)
            if is_free:
                self._writer.write(db, left, replacement(left.holder))
            return is_free

        return await self._file.do(do)

    async def changes(self, since: str | None = None) -> Changes:
        """Return the runs with new events since a position, and the position now."""
        return await self._file.look(partial(changes, since=since))

    async def wait_for_news(self, most_s: float) -> None:
        """Return after `most_s` seconds: a file tells nobody of what is written."""
        await asyncio.sleep(most_s)

    async def counters(self) -> Counters:
        """Return the counters over all runs."""
        return await self._file.look(partial(counters, now=time.time()))

    async def reindex(self) -> int:
        """Make the index of runs anew from their events, and return how many there are."""
        return await self._file.do(rebuild, full=True)

    async def misindexed(self) -> list[str]:
        """Return the names of the runs whose index row does not match their events."""
        return await self._file.look(lambda db: list(differences(db)))

    async def health(self) -> Health:
        """Return how the file is; the events themselves are checked when a run is read."""
        return await self._file.look(lambda db: examine(db, Path(self.name)))
