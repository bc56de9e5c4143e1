"""A ledger as those see it who list, look at and change runs from outside of a graph."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from graph.ledger.protocol import Ledger, Message, RunKey
from graph.ledger.transcript import Transcript
from graph.record.counters import Counters
from graph.record.run_filter import RunFilter
from graph.record.summary import RunSummary


@dataclass(frozen=True)
class Health:
    """What was found; sizes are in bytes, `tables` holds rows and bytes of content per table.

    `damage` is what the database's own check says, empty if it is whole; events are checked when a run is read. `dead`
    are runs whose owner is gone. `tables` has `ledger_events` and `ledger_artifacts` at least. Without a file, `file`
    and `write_ahead_log` are 0.
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


@dataclass(frozen=True)
class Redacted:
    """What a redaction changed: events per run, artifacts, and rows of LangGraph's checkpoints.

    `remaining` names where the value still is: in what belongs to other threads, or in names.
    """

    events: Mapping[RunKey, tuple[int, ...]]
    artifacts: int
    checkpoints: int
    remaining: tuple[str, ...] = ()


class RunStore(Ledger, Protocol):
    """A ledger whose runs can be listed, searched, looked at and changed from outside of a graph.

    The index of runs and the counters follow in the transaction of each event, whichever ledger wrote it.
    """

    async def post(self, run: RunKey, message: Message) -> None:
        """Leave a message for whoever works on the run next, or now; it survives a power cut."""

    async def is_worked_on(self, run: RunKey) -> bool:
        """Whether somebody owns the run whose process is not known to be gone."""

    async def transcript(self, run: RunKey) -> Transcript:
        """Return everything that is stored of a run, as it is stored; nothing of it is checked."""

    async def redact(self, thread: str, value: str, by: str, reason: str) -> Redacted:
        """Take a value out of all that is kept of a thread, its checkpoints in the same database included.

        All runs of the thread are owned meanwhile. Events, artifacts, waiting messages and the index lose the value; an
        artifact that another thread's run names stays beside the one that takes its place. Each run that changes gets
        an event `redacted`, so that its chain still holds, and its seal. See `graph.ledger.erasure`.

        Args:
            thread: Whose runs lose the value.
            value: A text; it is found inside of others too.
            by: Who wants it.
            reason: Why.

        Raises:
            InputError: The records cannot do without the value; nothing was changed.
            RunOwnedError: Somebody works on one of the runs; nothing was changed.
            LedgerCorruptError: An event is not what was written; nothing was changed.
            LedgerUnavailableError: It could not be written; or the value is out of the records, and others who have the
                database open kept its old pages from being removed: do it again.
        """

    async def runs(self) -> list[RunKey]:
        """Return all runs, the one that was opened last first."""

    async def named(self, name: str) -> list[RunKey]:
        """Return the run of that id, or the latest of that thread, or of each of a few threads that begin so.

        At most `graph.ledger.search.CANDIDATES` threads are named, in the order of their code points; none for "".
        """

    async def page(self, wanted: RunFilter) -> list[RunSummary]:
        """Return a page of the index of runs, the latest first; see `graph.ledger.search.matches` and `as_shown`.

        Nothing is behind a run that is not there.
        """

    async def counters(self) -> Counters:
        """Return what is counted over all runs."""

    async def reindex(self) -> int:
        """Make the index of runs and the counters anew from their events, and return how many runs there are."""

    async def misindexed(self) -> list[str]:
        """Return the names of the runs whose row in the index is not what follows from their events."""

    async def health(self) -> Health:
        """Return how the database is."""

    async def close(self) -> None:
        """Let go of the database once what was asked is done; a later call opens it again."""
