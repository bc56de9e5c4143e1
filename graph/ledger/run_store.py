"""The ledger interface for code outside of the graph: listing, inspection, messages, redaction."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from planner_executor.graph.errors import RunOwnedError, StaleRunError
from planner_executor.graph.ledger.ended_sessions import EndedSessions
from planner_executor.graph.ledger.outbox import Outbox
from planner_executor.graph.ledger.protocol import Ledger, Message
from planner_executor.graph.ledger.run_index import RunIndex, Unfinished
from planner_executor.graph.ledger.timetable import Timetable
from planner_executor.graph.ledger.tombstone import Tombstone, Tombstones
from planner_executor.graph.ledger.transcript import Transcript
from planner_executor.graph.record.counters import Counters
from planner_executor.graph.record.run_key import RunKey

Removal = Tombstone | RunOwnedError | StaleRunError
"""What a removal made of a thread: its tombstone, or what keeps it."""


class Health(NamedTuple):
    """The state of a database; sizes are in bytes, `tables` holds rows and bytes of content per table.

    `damage` is the result of the database's own check, empty if it passed; events are checked when a run is read.
    `dead` lists runs that have not ended and whose owner is dead. `tables` has at least `ledger_events` and
    `ledger_artifacts`. If there is no file, `file` and `write_ahead_log` are 0.
    """

    file: int
    write_ahead_log: int
    runs: int
    tables: dict[str, tuple[int, int]]
    damage: tuple[str, ...]
    dead: tuple[str, ...]

    @property
    def per_run(self) -> int:
        """Bytes of the file per run."""
        return self.file // max(self.runs, 1)


class Redacted(NamedTuple):
    """The changes of a redaction: events per run, artifacts, rows of LangGraph's checkpoints, and standing approvals.

    `remaining` lists the places that still hold the value: data of other threads, and names.
    """

    events: Mapping[RunKey, tuple[int, ...]]
    artifacts: int
    checkpoints: int
    approvals: int = 0
    remaining: tuple[str, ...] = ()


class Changes(NamedTuple):
    """The runs with new events since a position, and the position to ask from next.

    `is_complete` is false if the position is not known any more: then any run may have changed.
    """

    runs: tuple[RunKey, ...]
    position: str
    is_complete: bool = True


class RunStore(Ledger, RunIndex, Protocol):
    """A ledger whose runs can be listed, searched, inspected and changed from outside of the graph.

    The index of runs and the counters are updated in the transaction of each event, whichever ledger writes it.
    """

    async def post(self, run: RunKey, message: Message) -> None:
        """Leave a message for the run's current or next owner; it survives a power cut."""

    async def is_worked_on(self, run: RunKey) -> bool:
        """Whether the run has an owner that is not known to be dead."""

    async def transcript(self, run: RunKey) -> Transcript:
        """Return a run's whole stored record, unchecked."""

    async def redact(self, thread: str, value: str, by: str, reason: str) -> Redacted:
        """Remove a value from all data of a thread, including its checkpoints in the same database.

        All runs of the thread are owned meanwhile. The value is removed from events, artifacts, waiting messages and
        the index; an artifact that is shared with another thread is kept beside its replacement. Each changed run gets
        a `redacted` event, so that its chain and seal still verify. See `graph.ledger.erasure`. Standing approvals
        that hold in any run are no thread's: the value is removed from all of them.

        Args:
            thread: The thread.
            value: The text to remove, also as part of longer texts.
            by: The person who asked for it.
            reason: Their reason.

        Raises:
            InputError: The records cannot be read without the value; nothing was changed.
            RunOwnedError: One of the runs has a live owner; nothing was changed.
            LedgerCorruptError: An event is damaged; nothing was changed.
            LedgerUnavailableError: The write failed; or the value was removed from the records, but other connections
                kept its old pages from being overwritten: redact again.
        """

    async def adopt(self, runs: Sequence[Transcript]) -> None:
        """Store the runs of a thread as another database has them, all or none; survives a power cut.

        Their records are the caller's to check; `transcript` returns them as they were given.

        Raises:
            InputError: The thread is already there.
        """

    async def remove(self, threads: Sequence[Sequence[Transcript]], by: str) -> Sequence[Removal]:
        """Remove threads with all that is stored of them, and leave a tombstone of each; survives a power cut.

        Events, artifacts that no other run names, waiting messages, rows of the index and LangGraph's checkpoints in
        the same database are removed in one transaction, for which others who write wait. The counters stay. The
        numbers of the runs are not given again. Whether a thread may be removed is the caller's to decide
        (`graph.runs.retention`).

        Args:
            threads: For each thread all of its runs, in order, as `transcript` returned them.
            by: The person who asked for it.

        Returns:
            For each thread its tombstone, or what keeps it as it was: RunOwnedError if a run has an owner that is not
            known to be dead, StaleRunError if one was changed or added since, or forked on a thread that stays.

        Raises:
            LedgerSealError: The chain of tombstones is not sealed with this ledger's key; nothing was changed.
        """

    async def tombstones(self, name: str | None = None) -> Tombstones:
        """Return what remains of removed threads, unchecked: of all of them, or of those that a name may mean."""

    async def forks(self, thread: str) -> list[tuple[RunKey, str]]:
        """Return the forks in the family of a thread, the oldest first, each with the name of the run it is one of."""

    async def give_back(self) -> bool:
        """Return the space of removed data to the file system; return False if others who use the file prevent it.

        Without a file there is nothing to do. Runs may go on meanwhile.
        """

    async def back_up(self, file: Path) -> None:
        """Copy the database, as one moment has it, to a new file that only its owner can read; runs go on meanwhile.

        Raises:
            InputError: The file is there already or cannot be written; or the database is no file.
        """

    async def runs(self) -> list[RunKey]:
        """Return all runs, the newest first."""

    async def numbers(self, thread: str) -> list[int]:
        """Return the numbers of the thread's runs that are there, in order; they may begin with a later one than 1."""

    async def named(self, name: str) -> list[RunKey]:
        """Return the run with that id; else that thread's latest run; else the latest of each thread with that prefix.

        At most `graph.ledger.search.CANDIDATES` threads, sorted by code points. The result for "" is empty.
        """

    async def due(self, limit: int, offset: int = 0) -> list[RunKey]:
        """Return runs whose open request has something due by `now`, what is due longest first."""

    async def with_approvals(self, limit: int, before: RunKey | None = None) -> list[RunKey]:
        """Return runs that have not ended and were given standing approvals of their own, the latest first.

        Those behind `before`; none if that run is unknown.
        """

    async def set_aside(self, found: Unfinished) -> bool:
        """Take a run from nobody, or from a dead owner, and leave it free; return whether it was as it was found.

        Of several callers with the same finding one succeeds. The run can be owned at once.
        """

    async def changes(self, since: str | None = None) -> Changes:
        """Return the runs with events that were committed since a position, in no order; a run may be named again.

        Args:
            since: The position of an earlier call; None for none of the runs, and the position as it is now.
        """

    @property
    def outbox(self) -> Outbox:
        """The deliveries of notices."""

    @property
    def ended_sessions(self) -> EndedSessions:
        """The sessions of the review desk that were signed out of."""

    @property
    def timetable(self) -> Timetable:
        """The next moments of schedules."""

    async def wait_for_news(self, most_s: float) -> None:
        """Return after `most_s` seconds, or sooner if events may have been written; only `changes` tells whether."""

    async def counters(self) -> Counters:
        """Return the counters over all runs."""

    async def reindex(self) -> int:
        """Rebuild the index of runs, the counters and what steps took from the events; return the number of runs."""

    async def misindexed(self) -> list[str]:
        """Return the names of runs whose index row does not match their events."""

    async def health(self) -> Health:
        """Return the state of the database."""

    async def close(self) -> None:
        """Finish pending calls and close the database; a later call opens it again."""
