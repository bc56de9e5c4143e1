"""The parts of a desk: records, drives, door and templates."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jinja2 import Environment

from planner_executor.graph.checkpoints.checkpoint import open_checkpointer
from planner_executor.graph.desk.drives import Drives
from planner_executor.graph.desk.policy_view import PolicyInForce
from planner_executor.graph.desk.records import Records, ShownRun, open_records
from planner_executor.graph.desk.security.gate import Door
from planner_executor.graph.desk.settings import DeskSettings
from planner_executor.graph.desk.views.plan_graph import PlanDrawing
from planner_executor.graph.desk.watch import Watch
from planner_executor.graph.ledger.database_name import shown
from planner_executor.graph.lifetime import OpenOnUse
from planner_executor.graph.plan.recent import Recent

MOST_DRAWINGS = 16
"""Drawings that are kept: one of 1,000 steps has 1.5 MB."""


PlaybookFolder = Callable[[], Path | None]
"""Returns the folder of playbooks that the settings name, None if they name none."""


def _nobody(_: str, __: int | None) -> None:
    """Drop a new link: there is no operator to announce it to."""


@dataclass
class Desk:
    """A desk over one database. Without `drives` it continues no run. `announce` gives the operator a new link.

    `playbooks` is read anew for each page, None if the desk has no settings.

    The database is opened on the first request, so that a desk works wherever it is mounted.
    """

    database: str | Path
    settings: DeskSettings
    templates: Environment
    drives: Drives | None = None
    policy: PolicyInForce | None = None
    announce: Callable[[str, int | None], None] = _nobody
    playbooks: PlaybookFolder | None = None
    watch: Watch | None = None
    drawings: Recent[PlanDrawing] = field(default_factory=lambda: Recent(MOST_DRAWINGS))
    door: Door = field(init=False)
    _records: OpenOnUse[Records] = field(init=False)

    def __post_init__(self) -> None:
        self.door = Door(self.settings)
        self._records = OpenOnUse(shown(self.database), lambda: open_records(self.database))

    @property
    def name(self) -> str:
        """The database's name."""
        return shown(self.database)

    @property
    def decides(self) -> bool:
        """Whether anything can be decided here."""
        return not self.settings.read_only

    @property
    def starts(self) -> bool:
        """Whether runs are started and continued here."""
        return self.decides and self.drives is not None

    async def carries_on(self, shown: ShownRun) -> bool:
        """Whether a run can be continued here: its checkpoints have to be in this database."""
        if self.drives is None or not shown.is_on_server:
            return self.drives is not None
        # A LangGraph server may keep its checkpoints elsewhere; without them the graph cannot go on (decision 91).
        async with open_checkpointer(self.database) as saver:
            place: Any = {"configurable": {"thread_id": shown.key.thread, "checkpoint_ns": ""}}
            return await saver.aget_tuple(place) is not None

    async def records(self) -> Records:
        """Return the records."""
        return await self._records.get()

    async def end_session(self, session: str) -> None:
        """End a session for every copy of its cookie, and for every process of this desk."""
        now = time.time()
        await (await self.records()).runs.ledger.ended_sessions.add(session, now + self.settings.session_s, now)
        if self.watch is not None:
            self.watch.end(session)

    async def has_ended(self, session: str) -> bool:
        """Whether a session was ended."""
        return await (await self.records()).runs.ledger.ended_sessions.has(session)

    def watch_of(self, records: Records) -> Watch:
        """Return the watch that looks for changes on behalf of all streams."""
        if self.watch is None or self.watch.records is not records:
            self.watch = Watch(records)
        return self.watch

    async def close(self) -> None:
        """Pause the runs that are continued here, and close the database."""
        if self.drives is not None:
            self.drives.close()
        await self._records.close()
