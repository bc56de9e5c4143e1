"""The ledger in a PostgreSQL database."""

import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

from planner_executor.graph.errors import InputError
from planner_executor.graph.ledger.erasure import redactor_of
from planner_executor.graph.ledger.owner import may_live, replacement
from planner_executor.graph.ledger.postgres.adoption import adopt
from planner_executor.graph.ledger.postgres.changes import changes
from planner_executor.graph.ledger.postgres.ended_sessions import PostgresEndedSessions
from planner_executor.graph.ledger.postgres.erasure import erase, places_of
from planner_executor.graph.ledger.postgres.event_store import EventStore
from planner_executor.graph.ledger.postgres.health import examine
from planner_executor.graph.ledger.postgres.lease import free
from planner_executor.graph.ledger.postgres.outbox import PostgresOutbox
from planner_executor.graph.ledger.postgres.queries import (
    forks_of,
    head_of,
    locked,
    numbers_of,
    run_id_of,
    transcript_of,
)
from planner_executor.graph.ledger.postgres.removal import remove, tombstones_of
from planner_executor.graph.ledger.postgres.run_index import differences, rebuild
from planner_executor.graph.ledger.postgres.run_search import (
    counters,
    due,
    page,
    run_named,
    summaries,
    unfinished,
    waiting,
    with_approvals,
)
from planner_executor.graph.ledger.postgres.transaction import Transaction
from planner_executor.graph.ledger.protocol import Message, RunKey
from planner_executor.graph.ledger.run_store import Changes, Health, Redacted, Unfinished, Waiting
from planner_executor.graph.ledger.tombstone import Tombstone, Tombstones
from planner_executor.graph.ledger.transcript import Transcript
from planner_executor.graph.record.counters import Counters
from planner_executor.graph.record.run_filter import RunFilter
from planner_executor.graph.record.summary import RunSummary


class PostgresLedger(EventStore):
    """See `graph.ledger.run_store.RunStore`; the nodes' side is `EventStore`."""

    async def post(self, run: RunKey, message: Message) -> None:
        """Leave a message for the run's current or next owner."""

        def leave(tx: Transaction) -> None:
            query = "INSERT INTO ledger_inbox (run, message) VALUES (%s, %s)"
            tx.tell(query, run_id_of(tx, self.name, run), message)

        await self._file.do(leave, run.thread, full=True)

    async def is_worked_on(self, run: RunKey) -> bool:
        """Whether the run has an owner that is not known to be dead."""

        def is_held(tx: Transaction) -> bool:
            head = head_of(tx, self.name, run)
            return head.holder is not None and may_live(head.holder.owner) and head.silent_s <= self._silent_s

        return await self._file.look(is_held, run.thread)

    async def transcript(self, run: RunKey) -> Transcript:
        """Return everything that is stored of a run."""
        return await self._file.look(lambda tx: transcript_of(tx, self.name, run), run.thread)

    async def adopt(self, runs: Sequence[Transcript]) -> None:
        """Store the runs of a thread as another database has them."""
        await self._file.do(lambda tx: adopt(tx, self.name, runs), full=True)

    async def redact(self, thread: str, value: str, by: str, reason: str) -> Redacted:
        """Take a value out of all that is kept of a thread, and let the server forget the old rows."""
        forms = redactor_of(value).forms
        runs = [RunKey(thread, n) for n in await self.numbers(thread)]
        async with AsyncExitStack() as owned:
            for run in runs:
                await owned.enter_async_context(self.owned(run))
            done = await self._file.do(
                lambda tx: erase(tx, self._writer, thread, runs, value, by, reason), thread, full=True
            )
        await self._file.compact()
        return replace(done, remaining=tuple(await self._file.look(lambda tx: places_of(tx, forms))))

    async def remove(self, runs: Sequence[Transcript], by: str) -> Tombstone:
        """Remove a thread, and return its tombstone."""
        return await self._file.do(
            lambda tx: remove(tx, self._writer, self._silent_s, runs, time.time(), by), runs[0].thread, full=True
        )

    async def tombstones(self, name: str | None = None) -> Tombstones:
        """Return what remains of removed threads, or of those that a name may mean."""
        return await self._file.look(lambda tx: tombstones_of(tx, name))

    async def forks(self) -> list[tuple[RunKey, str]]:
        """Return the forks, each with the name of the run that it is a fork of."""
        return await self._file.look(forks_of)

    async def give_back(self) -> bool:
        """Let the server use the space of removed rows again; it returns none to the file system."""
        await self._file.compact()
        return True

    async def back_up(self, file: Path) -> None:  # noqa: ARG002  (the signature of all ledgers)
        """Refuse: there is no file."""
        raise InputError("file", f"{self.name} is backed up by its server's own means, such as pg_dump")

    async def runs(self) -> list[RunKey]:
        """Return all runs, the latest first."""
        found = await self._file.look(lambda tx: tx.ask("SELECT thread, n FROM ledger_runs ORDER BY id DESC"))
        return [RunKey(thread, n) for thread, n in found]

    async def numbers(self, thread: str) -> list[int]:
        """Return the numbers of the thread's runs, in order."""
        return await self._file.look(lambda tx: numbers_of(tx, thread), thread)

    async def named(self, name: str) -> list[RunKey]:
        """Return the run of that id, or the latest of that thread, or of each of a few threads that begin so."""
        return await self._file.look(lambda tx: run_named(tx, name))

    async def page(self, wanted: RunFilter) -> list[RunSummary]:
        """Return a page of the index of runs, the latest first."""
        return await self._file.look(lambda tx: page(tx, wanted, self._silent_s))

    async def summaries(self, runs: Sequence[RunKey]) -> list[RunSummary]:
        """Return the rows of these runs in the index."""
        return await self._file.look(lambda tx: summaries(tx, runs))

    @property
    def ended_sessions(self) -> PostgresEndedSessions:
        """The sessions of the review desk that were signed out of."""
        return PostgresEndedSessions(self._file)

    @property
    def outbox(self) -> PostgresOutbox:
        """The deliveries of notices."""
        return PostgresOutbox(self._file)

    async def waiting(self, limit: int, after: Waiting | None = None) -> list[RunSummary]:
        """Return rows of runs that wait for a person, the longest wait first."""
        return await self._file.look(lambda tx: waiting(tx, limit, after))

    async def due(self, limit: int, offset: int = 0) -> list[RunKey]:
        """Return runs whose open request has something due."""
        return await self._file.look(lambda tx: due(tx, limit, offset))

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

    async def changes(self, since: str | None = None) -> Changes:
        """Return the runs with new events since a position, and the position now."""
        return await self._file.look(lambda tx: changes(tx, since))

    async def wait_for_news(self, most_s: float) -> None:
        """Return when events may have been written, at the latest after `most_s` seconds."""
        await self._file.wait_for_notice(most_s)

    async def counters(self) -> Counters:
        """Return the counters over all runs."""
        return await self._file.look(counters)

    async def reindex(self) -> int:
        """Make the index of runs anew from their events, and return how many there are."""
        return await self._file.do(rebuild, full=True)

    async def misindexed(self) -> list[str]:
        """Return the names of the runs whose index row does not match their events."""
        return await self._file.look(lambda tx: list(differences(tx)))

    async def health(self) -> Health:
        """Return how the database is; the events themselves are checked when a run is read."""
        return await self._file.look(lambda tx: examine(tx, self._silent_s))
