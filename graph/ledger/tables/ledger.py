"""The ledger in a database; see `graph.ledger.run_store.RunStore`. The nodes' side is `EventStore`."""

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AsyncExitStack
from functools import partial

from planner_executor.graph.ledger.erasure import redactor_of
from planner_executor.graph.ledger.protocol import Message
from planner_executor.graph.ledger.replaced_owner import replacement
from planner_executor.graph.ledger.run_index import Unfinished
from planner_executor.graph.ledger.run_store import Redacted, Removal
from planner_executor.graph.ledger.tables.adoption import adopt
from planner_executor.graph.ledger.tables.counts import counters
from planner_executor.graph.ledger.tables.ended_sessions import SqlEndedSessions
from planner_executor.graph.ledger.tables.erasure import erase
from planner_executor.graph.ledger.tables.event_store import EventStore
from planner_executor.graph.ledger.tables.leases import free
from planner_executor.graph.ledger.tables.outbox import SqlOutbox
from planner_executor.graph.ledger.tables.removal import remove, tombstones_of
from planner_executor.graph.ledger.tables.run_index import differences, rebuild
from planner_executor.graph.ledger.tables.run_names import runs_named
from planner_executor.graph.ledger.tables.run_rows import run_id_of
from planner_executor.graph.ledger.tables.runs import forks_of, head_of, locked, numbers_of, transcript_of
from planner_executor.graph.ledger.tables.search import due, summaries, unfinished, waiting, waiting_count
from planner_executor.graph.ledger.tables.standing import with_approvals
from planner_executor.graph.ledger.tables.timetable import SqlTimetable
from planner_executor.graph.ledger.tables.transaction import Transaction
from planner_executor.graph.ledger.tombstone import Tombstones
from planner_executor.graph.ledger.transcript import Transcript
from planner_executor.graph.record.counters import Counters
from planner_executor.graph.record.redaction import Redactor
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.summary import RunSummary
from planner_executor.graph.record.waiting_filter import ALL, Waiting, WaitingFilter


class SqlLedger(EventStore, ABC):
    """What both databases do alike; a driver adds what is about its files or its server."""

    async def post(self, run: RunKey, message: Message) -> None:
        """Leave a message for the run's current or next owner."""
        query = "INSERT INTO ledger_inbox (run, message) VALUES (%s, %s)"
        await self._file.do(lambda tx: tx.tell(query, run_id_of(tx, self.name, run), message), run.thread, full=True)

    async def is_worked_on(self, run: RunKey) -> bool:
        """Whether the run has an owner that is not known to be dead."""

        return await self._file.look(lambda tx: head_of(tx, self.name, run).is_worked_on(self._silent_s), run.thread)

    async def transcript(self, run: RunKey) -> Transcript:
        """Return everything that is stored of a run."""
        return await self._file.look(lambda tx: transcript_of(tx, self.name, run), run.thread)

    async def adopt(self, runs: Sequence[Transcript]) -> None:
        """Store the runs of a thread as another database has them."""
        await self._file.do(lambda tx: adopt(tx, self.name, runs), full=True)

    async def redact(self, thread: str, value: str, by: str, reason: str) -> Redacted:
        """Remove a value from everything that is kept of a thread; all of its runs are owned meanwhile."""
        forms, runs = redactor_of(value).forms, [RunKey(thread, n) for n in await self.numbers(thread)]
        async with AsyncExitStack() as owned:
            for run in runs:
                await owned.enter_async_context(self.owned(run))
            done = await self._file.do(
                lambda tx: erase(tx, self._writer, thread, runs, value, by, reason, self._erase_checkpoints),
                thread,
                full=True,
            )
        return done._replace(remaining=tuple(await self._compacted(forms)))

    async def remove(self, threads: Sequence[Sequence[Transcript]], by: str) -> Sequence[Removal]:
        """Remove threads, and return for each its tombstone, or what keeps it."""
        removed = partial(
            remove,
            writer=self._writer,
            silent_s=self._silent_s,
            threads=threads,
            at=time.time(),
            by=by,
            remove_checkpoints=self._remove_checkpoints,
        )
        return await self._file.do(removed, full=True)

    async def tombstones(self, name: str | None = None) -> Tombstones:
        """Return what remains of removed threads, or of those that a name may mean."""
        return await self._file.look(lambda tx: tombstones_of(tx, name))

    async def forks(self, thread: str) -> list[tuple[RunKey, str]]:
        """Return the forks in the family of a thread, each with the name of the run that it is a fork of."""
        return await self._file.look(lambda tx: forks_of(tx, thread), thread)

    async def runs(self) -> list[RunKey]:
        """Return all runs, the latest first."""
        found = await self._file.look(lambda tx: tx.ask("SELECT thread, n FROM ledger_runs ORDER BY id DESC"))
        return [RunKey(thread, n) for thread, n in found]

    async def numbers(self, thread: str) -> list[int]:
        """Return the numbers of the thread's runs, in order."""
        return await self._file.look(lambda tx: numbers_of(tx, thread), thread)

    async def named(self, name: str) -> list[RunKey]:
        """Return the run of that id, or the latest of that thread, or of each of a few threads that begin so."""
        return await self._file.look(lambda tx: runs_named(tx, name))

    async def summaries(self, runs: Sequence[RunKey]) -> list[RunSummary]:
        """Return the rows of these runs in the index."""
        return await self._file.look(lambda tx: summaries(tx, runs))

    @property
    def ended_sessions(self) -> SqlEndedSessions:
        """The sessions of the review desk that were signed out of."""
        return SqlEndedSessions(self._file)

    @property
    def outbox(self) -> SqlOutbox:
        """The deliveries of notices."""
        return SqlOutbox(self._file)

    @property
    def timetable(self) -> SqlTimetable:
        """The next moments of schedules."""
        return SqlTimetable(self._file)

    async def waiting(self, limit: int, wanted: WaitingFilter = ALL, after: Waiting | None = None) -> list[RunSummary]:
        """Return rows of runs that wait for a person and are wanted, in the order of the filter."""
        return await self._file.look(lambda tx: waiting(tx, limit, wanted, after))

    async def waiting_count(self, wanted: WaitingFilter = ALL) -> int:
        """Return how many of them there are."""
        return await self._file.look(lambda tx: waiting_count(tx, wanted))

    async def due(self, limit: int, offset: int = 0) -> list[RunKey]:
        """Return runs whose open request has something due."""
        now = await self.now()
        return await self._file.look(lambda tx: due(tx, now, limit, offset))

    async def with_approvals(self, limit: int, before: RunKey | None = None) -> list[RunKey]:
        """Return runs that have not ended and were given standing approvals of their own, the latest first."""
        return await self._file.look(lambda tx: with_approvals(tx, limit, before))

    async def unfinished(self) -> list[Unfinished]:
        """Return the runs that are planned, executed or paused, the oldest first."""
        return await self._file.look(lambda tx: unfinished(tx, self._silent_s))

    async def set_aside(self, found: Unfinished) -> bool:
        """Take a run from nobody, or from a dead owner, and leave it free."""

        def do(tx: Transaction) -> bool:
            left = locked(tx, self.name, found.run)
            is_free = free(tx, left, found.holder)
            if is_free:
                self._writer.write(tx, left, replacement(left.holder))
            return is_free

        return await self._file.do(do, found.run.thread)

    async def counters(self) -> Counters:
        """Return the counters over all runs."""
        return await self._file.look(counters)

    async def reindex(self) -> int:
        """Make the index of runs anew from their events, and return how many there are."""
        return await self._file.do(rebuild, full=True)

    async def misindexed(self) -> list[str]:
        """Return the names of the runs whose index row does not match their events."""
        return await self._file.look(lambda tx: list(differences(tx)))

    @abstractmethod
    async def _compacted(self, forms: Sequence[str]) -> list[str]:
        """Overwrite what was replaced, and return where one of the forms is still found."""

    @abstractmethod
    def _erase_checkpoints(self, tx: Transaction, thread: str, redactor: Redactor) -> int:
        """Take a value out of a thread's checkpoints and pending writes; return the number of changed rows."""

    @abstractmethod
    def _remove_checkpoints(self, tx: Transaction, thread: str) -> None:
        """Remove all rows of a thread from LangGraph's tables."""
