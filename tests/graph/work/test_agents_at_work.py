"""Whole runs that workers continue: nothing is done twice, and nothing under other terms."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from planner_executor import AsyncAgent
from planner_executor.graph.ledger.lease import Pace
from planner_executor.graph.record.hand_over import hand_over
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.runs.runs import open_runs
from planner_executor.graph.testing import LoggedTools, ScriptedModel, step
from planner_executor.graph.work.candidate import Candidate
from planner_executor.graph.work.continuing import BySession
from planner_executor.graph.work.worker import Worker

PLAN = {"steps": [step("a", "look", name="a"), step("b", "pay", name="b", after=["a"])]}
AT_ONCE = Pace(beat_s=0.0, lease_s=0.0, look_s=0.0)
RUN = RunKey("t", 1)


async def nothing() -> None:
    """Do nothing."""


class LettingGo(BySession):
    """Notes in `asked` that it has asked a run to stop."""

    asked = asyncio.Event()

    async def let_go(self, run: Candidate) -> bool:
        found = await super().let_go(run)
        self.asked.set()
        return found


class House:
    """Agents over one file, with tools that keep a log; `in_look` is awaited in each call of `look`."""

    def __init__(self, folder: Path, tools: LoggedTools) -> None:
        self.path, self.tools = folder / "runs.db", tools
        self.in_look: Callable[[], Awaitable[Any]] = nothing
        self.lines: list[str] = []

    def agent(self, **options: Any) -> AsyncAgent:
        async def look(name: str) -> str:
            self.tools.calls.append(("look", {"name": name}))
            await self.in_look()
            return name

        like = self.tools.tool("look", effect="read", is_async=True)
        own = [like.model_copy(update={"coroutine": look}), self.tools.tool("pay", lambda name: name)]
        return AsyncAgent.open(self.path, **{"planner": ScriptedModel([PLAN]), "tools": own, **options})

    async def work(self, on_worker: Callable[[Worker], None] = lambda _: None, **options: Any) -> None:
        async with self.agent(**options) as agent, asyncio.timeout(60):
            worker = Worker(agent.runs, LettingGo(await agent._open.get()), self._note, pace=AT_ONCE)
            on_worker(worker)
            await worker.run(once=True)

    async def begin(self) -> None:
        """Start a run, approve it, and break it off within its first call."""
        async with self.agent() as agent:
            run = await agent.start("g", thread=RUN.thread)
            approving = asyncio.create_task(agent.resume(run.id, "approve"))

            async def break_off() -> None:
                approving.cancel()
                await asyncio.sleep(0)

            self.in_look = break_off
            await asyncio.wait([approving])
        self.in_look = nothing
        self.tools.calls.clear()

    async def status(self) -> str:
        async with open_runs(self.path) as runs:
            return (await runs.show(RUN)).status

    def _note(self, report: Any) -> None:
        self.lines.append(report.line())


@pytest.fixture
def house(tmp_path: Path, tools: LoggedTools) -> House:
    return House(tmp_path, tools)


async def test_a_run_that_was_broken_off_goes_on_where_it_stood(house: House) -> None:
    await house.begin()
    await house.work()
    assert await house.status() == "succeeded"
    assert [name for name, _ in house.tools.calls] == ["look", "pay"]
    assert house.lines == ["t.1 taken up", "t.1 succeeded: 2 of 2 steps succeeded"]


async def test_a_worker_that_is_stopped_hands_its_run_over_before_the_next_call(house: House) -> None:
    await house.begin()

    def stop_in_look(worker: Worker) -> None:
        async def stop() -> None:
            worker.stop()
            await LettingGo.asked.wait()

        house.in_look = stop

    await house.work(stop_in_look)
    assert [name for name, _ in house.tools.calls] == ["look"] and await house.status() == "paused"
    async with open_runs(house.path) as runs:
        log = await runs.log(RUN)
        assert [event.payload["reason"] for event in log if event.kind == "paused"][-1] == "handed over"
    await house.work()
    assert await house.status() == "succeeded"
    assert [name for name, _ in house.tools.calls] == ["look", "pay"]


async def test_a_hand_over_that_was_meant_for_an_earlier_owner_stops_nobody(house: House) -> None:
    await house.begin()
    async with open_runs(house.path) as runs:
        await runs.ledger.post(RUN, hand_over(1))
    await house.work()
    assert await house.status() == "succeeded"


LEFT: list[tuple[dict[str, Any], str]] = [
    ({"tools": ["pay"]}, "needs look: name it with --tools or --mcp"),
    ({"tools": ["look, not quite", "pay"]}, "look has changed"),
    ({"planner": "offline"}, "role planner: needs scripted"),
]
TAKEN_UP: list[tuple[dict[str, Any], str]] = [
    ({"tools": ["look", "pay", "more"]}, "weaker here, so that the terms on record hold: begun without more"),
    ({"approval": "never"}, "weaker here, so that the terms on record hold: approval: always on record, here is never"),
    ({"max_concurrency": 1}, "stricter here, and holds from now on: max_concurrency: 16 on record, here is 1"),
]


def given(house: House, changes: dict[str, Any]) -> dict[str, Any]:
    def made(name: str) -> Any:
        word, _, odd = name.partition(",")
        return house.tools.tool(word, **({"effect": "read"} if word == "look" and not odd else {}))

    return {**changes, **({"tools": [made(name) for name in changes["tools"]]} if "tools" in changes else {})}


@pytest.mark.parametrize(("changes", "why"), LEFT)
async def test_a_run_under_other_terms_is_left_and_what_is_missing_is_named(
    house: House, changes: dict[str, Any], why: str
) -> None:
    await house.begin()
    await house.work(**given(house, changes))
    assert await house.status() == "paused"
    (line,) = house.lines
    assert line.startswith("t.1 left: ") and why in line and house.tools.calls == []


@pytest.mark.parametrize(("changes", "how"), TAKEN_UP)
async def test_a_run_goes_on_under_the_stricter_terms_and_the_worker_says_how(
    house: House, changes: dict[str, Any], how: str
) -> None:
    await house.begin()
    await house.work(**given(house, changes))
    assert await house.status() == "succeeded"
    assert house.lines[0] == f"t.1 taken up: {how}" and [name for name, _ in house.tools.calls] == ["look", "pay"]


async def test_a_run_whose_tool_the_worker_denies_waits_for_a_person(house: House) -> None:
    await house.begin()
    await house.work(policy={"tools": {"pay": {"verdict": "deny"}}})
    assert await house.status() == "waiting"
    assert house.tools.calls == [] and "pay is not mentioned" in house.lines[0]
