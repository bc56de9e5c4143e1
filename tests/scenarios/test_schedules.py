"""Playbooks that workers run at fixed times: each due moment starts one run, whatever happens to a worker."""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from planner_executor import AsyncAgent, Playbook
from planner_executor.graph.ledger.lease import Pace
from planner_executor.graph.ledger.run_store import RunStore
from planner_executor.graph.playbooks.schedule import Schedule
from planner_executor.graph.record.moment import Moment
from planner_executor.graph.settings.identity import acting
from planner_executor.graph.settings.settings_file import SettingsFile
from planner_executor.graph.settings.trust import trust
from planner_executor.graph.testing import LoggedTools, ScriptedModel
from planner_executor.graph.work.chores import Chore
from planner_executor.graph.work.continuing import BySession
from planner_executor.graph.work.due import DueWork, begin
from planner_executor.graph.work.next_moment import HOLD_S
from planner_executor.graph.work.worker import Worker

FILE = """\
name: pay
version: 1
description: Pay {param.to}
parameters:
  to: {type: string}
steps:
  - {id: pay, objective: Pay, tool: pay, args: {to: '{param.to}', amount: 5}}
"""
SCHEDULE = Schedule("monthly", "pay", "0 0 1 1 *", params={"to": "ann"})
RULES: dict[str, Any] = {"approvers": {"tools": {"pay": {"names": [str(acting(None))], "four_eyes": True}}}}
WISH = {"at_most": 9, "params": {"to": {}}}
AT_ONCE = Pace(beat_s=0.0, lease_s=0.0, look_s=0.0)


@dataclass
class House:
    """Agents and workers over one file; `said` is what their chores did."""

    folder: Path
    tools: LoggedTools
    said: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        file = self.folder / "playbooks" / "pay.yaml"
        file.parent.mkdir()
        file.write_text(FILE)
        trust(file, FILE.encode())
        self.settings = SettingsFile(self.folder / "planner-executor.toml", {"playbooks": "playbooks"})

    def agent(self, policy: Any = RULES) -> AsyncAgent:
        own = [self.tools.tool("pay", effect="external", trusted=True)]
        return AsyncAgent.open(self.folder / "runs.db", planner=ScriptedModel([]), tools=own, policy=policy)

    async def due(self, ledger: RunStore) -> Moment:
        """Have the schedule be due now."""
        known = {one.schedule: one for one in await ledger.timetable.moments()}.get(SCHEDULE.name)
        fresh = Moment(SCHEDULE.name, SCHEDULE.rule, time.time() - 1, f"t{time.time_ns()}", last=known and known.last)
        assert await ledger.timetable.replace(known, fresh)
        return fresh

    async def work(self, agent: AsyncAgent, doing: Callable[..., Awaitable[None]] = begin, **changed: Any) -> None:
        session = await agent._open.get()

        async def by_session(playbook: Playbook, schedule: Schedule, thread: str) -> None:
            await doing(session, playbook, schedule, thread)

        due = DueWork(self.settings, (replace(SCHEDULE, **changed),), by_session)

        async def look(runs: Any) -> list[str]:
            said = [*await due(runs)]
            self.said += said
            return said

        async with asyncio.timeout(60):
            chores = (Chore("due", 0.0, look),)
            await Worker(agent.runs, BySession(session), pace=AT_ONCE, chores=chores).run(once=True)

    async def statuses(self, agent: AsyncAgent) -> list[str]:
        return [run.status for run in await agent.list()]


@pytest.fixture
def house(tmp_path: Path, tools: LoggedTools) -> House:
    return House(tmp_path, tools)


async def approved(house: House, agent: AsyncAgent) -> None:
    """Approve further runs, which a server's user has asked for."""
    ledger = agent.runs.ledger
    await house.due(ledger)
    await house.work(agent)
    (run,) = await agent.list(status="waiting")
    done = await agent.resume(run.id, {"type": "approve", "standing": WISH})
    assert done.status == "succeeded" and house.tools.calls == [("pay", {"to": "ann", "amount": 5})]


async def test_two_workers_start_each_due_run_once_and_nobody_is_asked_twice(house: House) -> None:
    async with house.agent() as agent, house.agent() as other:
        await approved(house, agent)
        for _ in range(3):
            await house.due(agent.runs.ledger)
            await asyncio.gather(house.work(agent), house.work(other))
            await house.work(agent)

        assert await house.statuses(agent) == ["succeeded"] * 4 and len(house.tools.calls) == 4
        runs = await agent.list()
        assert len({run.thread for run in runs}) == 4
        assert runs[0].tags == ("pay",)
        run = await agent.show(runs[0].id)
        assert "approved ahead by" in run.approved_ahead[0]
        assert (await agent.log(run.id)).events[0].payload["started_by"] == "schedule:monthly"
        assert sum("has started run" in said for said in house.said) == 4


async def test_nobody_consents_for_a_schedule_without_rules(house: House) -> None:
    async with house.agent({}) as agent:
        await approved(house, agent)
        await house.due(agent.runs.ledger)
        await house.work(agent)

        assert await house.statuses(agent) == ["waiting", "succeeded"]


@pytest.mark.parametrize("dies", ["before it has begun", "within the planner", "once it has begun"])
async def test_a_worker_that_dies_loses_no_run_and_no_effect_happens_twice(house: House, dies: str) -> None:
    async def killed(session: Any, playbook: Playbook, schedule: Schedule, thread: str) -> None:
        if dies == "within the planner":
            task = asyncio.create_task(begin(session, playbook, schedule, thread))
            while not task.done() and not await session.runs.ledger.numbers(thread):
                await asyncio.sleep(0)
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        elif dies == "once it has begun":
            await begin(session, playbook, schedule, thread)
        raise asyncio.CancelledError

    async with house.agent() as agent, house.agent() as other:
        await approved(house, agent)
        moment = await house.due(agent.runs.ledger)
        with contextlib.suppress(asyncio.CancelledError):
            await house.work(agent, killed)
        (taken,) = await agent.runs.ledger.timetable.moments()
        if dies == "before it has begun":
            assert taken.taken_at is not None and taken.thread == moment.thread
            late = taken._replace(taken_at=taken.taken_at - HOLD_S)
            assert await agent.runs.ledger.timetable.replace(taken, late)
        await asyncio.gather(house.work(other), house.work(other))
        await house.work(other)

        assert await house.statuses(agent) == ["succeeded"] * 2 and len(house.tools.calls) == 2


async def test_a_run_that_waits_counts_as_running(house: House) -> None:
    async with house.agent() as agent:
        for overlap in ("skip", "queue"):
            await house.due(agent.runs.ledger)
            await house.work(agent, overlap=overlap)
        assert await house.statuses(agent) == ["waiting"]
        assert [said.partition(" UTC")[2] for said in house.said[1:]] == [" waits: the run before it has not ended"]
        await house.due(agent.runs.ledger)
        await house.work(agent)
        assert house.said[-1].endswith("is skipped: the run before it has not ended")


async def test_a_playbook_that_cannot_start_is_said_and_the_schedule_goes_on(house: House) -> None:
    async with house.agent() as agent:
        await house.due(agent.runs.ledger)
        await house.work(agent, params={"whom": "ann"})
        (moment,) = await agent.runs.ledger.timetable.moments()

        assert "could not start: params: pay: no parameter 'whom'" in house.said[0]
        assert moment.due_at > time.time() and moment.taken_at is None and await house.statuses(agent) == []
