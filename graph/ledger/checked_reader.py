"""Reading runs, for every driver: the driver looks rows up in one transaction each, and they are checked here."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import partial

from planner_executor.graph.large_work import done_aside
from planner_executor.graph.ledger.family import Family
from planner_executor.graph.ledger.protocol import Elsewhere, News
from planner_executor.graph.ledger.reading import Snapshot, checked_events
from planner_executor.graph.ledger.refusals import lost_artifact
from planner_executor.graph.ledger.seal import SealKey
from planner_executor.graph.ledger.transcript import ARTIFACT_ID, is_artifact
from planner_executor.graph.record.events import Event
from planner_executor.graph.record.other_runs import calls_to_know, is_kin
from planner_executor.graph.record.projection import project
from planner_executor.graph.record.run_key import RunKey


class CheckedReader(ABC):
    """The methods of `graph.ledger.protocol.Ledger` that return recorded events and artifacts."""

    def __init__(self, name: str, key: SealKey | None) -> None:
        self.name, self._key = name, key

    async def events(self, run: RunKey, after: int = 0) -> list[Event]:
        """Return a run's events after the `after`-th in order, their chain checked from there on."""
        return await self._checked(run, await self._found(run, after), after)

    async def calls_elsewhere(self, run: RunKey, forked_from: str | None = None) -> Elsewhere:
        """Return calls of the family's other runs that are uncertain, or are known to have happened."""
        family = await self._other_runs(run, is_fork=forked_from is not None)
        others = [project(await self.events(other)) for other in family.to_know]
        kin = {other.id for other in others if is_kin(other.assignment, run.thread, run.id, forked_from)}
        return Elsewhere(calls_to_know(others, kin), family.seen, family.has_forks)

    async def last_run(self, thread: str) -> RunKey | None:
        """Return the thread's latest run, or None."""
        n = await self._last_number(thread)
        return RunKey(thread, n) if n else None

    async def latest(
        self, thread: str, known: RunKey | None = None, after: int = 0
    ) -> tuple[RunKey, list[Event]] | None:
        """Return the thread's latest run with its events, or None."""
        looked_up = await self._latest(thread, known, after)
        if looked_up is None:
            return None
        run, found = looked_up
        if run == known:
            return run, await self._checked(run, found, after)
        events = await self._checked(run, found, 0)
        self._has_read(run, found, events)
        return run, events

    async def artifact(self, artifact_id: str) -> str:
        """Return an artifact's JSON text."""
        content = await self._content(artifact_id) if ARTIFACT_ID.fullmatch(artifact_id) else None
        if content is None or not is_artifact(artifact_id, content):
            raise lost_artifact(self.name, artifact_id)
        return content

    @abstractmethod
    async def _found(self, run: RunKey, after: int) -> Snapshot:
        """Return a run from its `after`-th event on."""

    @abstractmethod
    async def _other_runs(self, run: RunKey, *, is_fork: bool) -> Family:
        """Return the other runs of the family; those of the thread in which all calls succeeded are no kin, unless

        `is_fork`, or if they are forks.
        """

    @abstractmethod
    async def _last_number(self, thread: str) -> int:
        """Return the number of the thread's latest run, 0 if there is none."""

    @abstractmethod
    async def _latest(self, thread: str, known: RunKey | None, after: int) -> tuple[RunKey, Snapshot] | None:
        """Return the thread's latest run, from its `after`-th event on if it is the known one; or None."""

    @abstractmethod
    async def _content(self, artifact_id: str) -> str | None:
        """Return what is stored as an artifact, or None."""

    @abstractmethod
    def _has_read(self, run: RunKey, found: Snapshot, events: Sequence[Event]) -> None:
        """Take note of a run that was read from its first event on: the index folds what is on record only once."""

    async def _checked(self, run: RunKey, found: Snapshot, after: int) -> list[Event]:
        return await done_aside(len(found.rows), partial(checked_events, self.name, self._key, run, found, after))

    async def _news(self, run: RunKey, found: Snapshot, after: int) -> News:
        return News(await self._checked(run, found, after), found.has_messages)
