"""Look-ups in a database that need no lease, each in one transaction; what was read of a run is checked."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial

from planner_executor.graph.large_work import done_aside
from planner_executor.graph.ledger.family import Family
from planner_executor.graph.ledger.protocol import Elsewhere, News
from planner_executor.graph.ledger.reading import Snapshot, checked_events
from planner_executor.graph.ledger.refusals import lost_artifact
from planner_executor.graph.ledger.seal import SealKey
from planner_executor.graph.ledger.tables.event_writer import EventWriter
from planner_executor.graph.ledger.tables.families import other_runs
from planner_executor.graph.ledger.tables.run_names import last_number
from planner_executor.graph.ledger.tables.run_rows import found_of, latest_of, run_id_of
from planner_executor.graph.ledger.tables.standing import revoke, standing
from planner_executor.graph.ledger.tables.transaction import Database
from planner_executor.graph.ledger.transcript import ARTIFACT_ID, is_artifact
from planner_executor.graph.record.events import Event
from planner_executor.graph.record.other_runs import calls_to_know, is_kin
from planner_executor.graph.record.projection import project
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.sample import Sample
from planner_executor.graph.record.standing_approval import StandingUse


class EventReader:
    """The methods of `graph.ledger.protocol.Ledger` that need no lease."""

    def __init__(self, file: Database, key: SealKey | None) -> None:
        self.name, self._file, self._key = file.name, file, key
        self._writer = EventWriter(self.name, key)

    async def events(self, run: RunKey, after: int = 0) -> list[Event]:
        """Return a run's events after the `after`-th in order, their chain checked from there on."""
        found = await self._file.look(
            lambda tx: found_of(tx, self.name, run_id_of(tx, self.name, run), after), run.thread
        )
        return await self._checked(run, found, after)

    async def calls_elsewhere(self, run: RunKey, forked_from: str | None = None) -> Elsewhere:
        """Return calls of the family's other runs that are uncertain, or are known to have happened."""
        family = await self._other_runs(run, is_fork=forked_from is not None)
        others = [project(await self.events(other)) for other in family.to_know]
        kin = {other.id for other in others if is_kin(other.assignment, run.thread, run.id, forked_from)}
        return Elsewhere(calls_to_know(others, kin), family.seen, family.has_forks)

    async def last_run(self, thread: str) -> RunKey | None:
        """Return the thread's latest run, or None."""
        n = await self._file.look(lambda tx: last_number(tx, thread), thread)
        return RunKey(thread, n) if n else None

    async def latest(
        self, thread: str, known: RunKey | None = None, after: int = 0
    ) -> tuple[RunKey, list[Event]] | None:
        """Return the thread's latest run with its events, or None."""
        looked_up = await self._file.look(lambda tx: latest_of(tx, self.name, thread, known, after), thread)
        if looked_up is None:
            return None
        run, found = looked_up
        if run == known:
            return run, await self._checked(run, found, after)
        events = await self._checked(run, found, 0)
        # So that the index need not fold these events again.
        self._writer.index.folded.has_read(run, found.rows, events)
        return run, events

    async def artifact(self, artifact_id: str) -> str:
        """Return an artifact's JSON text."""
        query = "SELECT content FROM ledger_artifacts WHERE id = %s"
        is_name = ARTIFACT_ID.fullmatch(artifact_id) is not None
        row = await self._file.look(lambda tx: tx.one(query, artifact_id)) if is_name else None
        if row is None or not is_artifact(artifact_id, row[0]):
            raise lost_artifact(self.name, artifact_id)
        content: str = row[0]
        return content

    async def step_history(self, likenesses: Sequence[str]) -> Mapping[str, Sequence[Sample]]:
        """Return what like steps of ended runs took."""
        return await self._file.look(lambda tx: tx.samples(likenesses))

    async def standing(self, tool: str | None = None, named: Collection[str] = ()) -> list[StandingUse]:
        """Return the standing approvals that hold, or held, in any run; see `Ledger`."""
        return await self._file.look(lambda tx: standing(tx, self.name, tool, named))

    async def revoke_standing(self, name: str, by: str) -> bool:
        """End a standing approval; return whether there was one to end."""
        return await self._file.do(lambda tx: revoke(tx, self.name, name, by), full=True)

    async def now(self) -> float:
        """Return the time of the database's clock."""
        return await self._file.look(lambda tx: tx.now())

    async def _other_runs(self, run: RunKey, *, is_fork: bool) -> Family:
        """Return the other runs of the family.

        Those of the thread in which all calls succeeded are no kin, but for forks and unless `is_fork`.
        """
        return await self._file.look(partial(other_runs, run=run, is_fork=is_fork), run.thread)

    async def _checked(self, run: RunKey, found: Snapshot, after: int) -> list[Event]:
        return await done_aside(len(found.rows), partial(checked_events, self.name, self._key, run, found, after))

    async def _news(self, run: RunKey, found: Snapshot, after: int) -> News:
        return News(await self._checked(run, found, after), found.has_messages)
