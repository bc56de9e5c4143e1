"""Ctrl-C, SIGTERM and cancelled tasks pause a run: what may be repeated is `interrupted`, the rest is `uncertain`."""

import asyncio
import signal
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from interrupted_run import TOOLS, WAYS, Folder
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatResult
from langgraph.types import Command
from warm_process import WarmProcess

from planner_executor import Agent, AsyncAgent, build_graph
from planner_executor.graph.testing import ScriptedModel, asked, on_thread

SCRIPT = Path(__file__).with_name("interrupted_run.py")
pytestmark = pytest.mark.slow

CUT = {"read": "interrupted", "read_async": "interrupted", "pay": "uncertain", "pay_async": "uncertain"}


@pytest.fixture
def folder(tmp_path: Path) -> Any:
    made = Folder(tmp_path)
    yield made
    made.let_go()  # for threads that nobody can stop


def all_began(folder: Folder) -> bool:
    return sorted(folder.lines()) == sorted(f"began {tool}" for tool in TOOLS)


def until(true: Callable[[], bool]) -> None:
    while not true():
        threading.Event().wait(0.01)


async def until_all_began(folder: Folder) -> None:
    async with asyncio.timeout(60):
        while not all_began(folder):
            await asyncio.sleep(0.01)


def settled(request: Any) -> dict[str, Any]:
    """Say that each uncertain call happened; fails where anything else is asked."""
    assert [action["name"] for action in request["action_requests"]] == ["settle_effect"] * 2
    assert {action["args"]["tool"] for action in request["action_requests"]} == {"pay", "pay_async"}
    args = {"happened": True, "result": "paid"}
    return {"decisions": [{"type": "edit", "edited_action": {"name": "settle_effect", "args": args}}] * 2}


def goes_on(folder: Folder) -> None:
    """Take the run up in another process's place, and check what is done again and what is not."""
    folder.let_go()
    with Agent.open(folder.database, **folder.options()) as agent:
        (run,) = agent.list()
        asks = agent.resume(run.id)
        ended = agent.resume(run.id, settled(asks.request))

    assert ended.status == "succeeded"
    began = Counter(line.removeprefix("began ") for line in folder.lines() if line.startswith("began"))
    assert began == {"read": 2, "read_async": 2, "pay": 1, "pay_async": 1, "last": 1}


@pytest.mark.parametrize(("way", "number"), [*((way, signal.SIGINT) for way in WAYS), ("command_line", signal.SIGTERM)])
def test_an_interrupted_process_leaves_a_paused_run_that_another_takes_up(
    folder: Folder, way: str, number: int
) -> None:
    log = folder.path / "said"
    with log.open("wb") as said:
        process = WarmProcess([str(SCRIPT), str(folder.path), way], stdout=said.fileno())
    until(lambda: all_began(folder) or process.returncode is not None)
    process.send_signal(number)

    assert process.wait() in (-signal.SIGINT, 130), log.read_text()
    assert {"stopped read_async", "stopped pay_async"} <= set(folder.lines())
    assert ("then paused" in folder.lines()) == (way == "facade_kept_open")
    assert ("paused; continue with" in log.read_text()) == (way == "command_line")
    with Agent.open(folder.database, **folder.options()) as agent:
        run = agent.show(agent.list()[0].id)
        assert run.status == "paused" and run.step_status == {**CUT, "last": "pending"}
        assert [event.kind for event in agent.log(run.id)][-1] == "paused"
    goes_on(folder)


async def test_a_cancelled_task_has_paused_its_run_by_the_time_it_has_ended(folder: Folder) -> None:
    async with AsyncAgent.open(folder.database, **folder.options()) as agent:
        await agent.start("g", thread="t")
        task = asyncio.create_task(agent.resume("t", "approve"))
        await until_all_began(folder)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        run = await agent.show("t")
        assert run.status == "paused" and run.step_status == {**CUT, "last": "pending"}
        folder.let_go()
        asks = await agent.resume("t")
        assert (await agent.resume("t", settled(asks.request))).status == "succeeded"

    began = Counter(line for line in folder.lines() if line.startswith("began"))
    assert (began["began pay"], began["began pay_async"]) == (1, 1)


async def test_a_time_limit_around_the_graph_pauses_the_run(folder: Folder, saver: Any) -> None:
    graph = build_graph(checkpointer=saver, **folder.options())
    await graph.ainvoke({"goal": "g"}, on_thread())
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(60) as clock:
            task = asyncio.create_task(until_all_began(folder))
            task.add_done_callback(lambda _: clock.reschedule(0))
            await graph.ainvoke(Command(resume="approve"), on_thread())
    folder.let_go()
    state = await graph.ainvoke(None, on_thread())
    assert (await graph.ainvoke(Command(resume=settled(asked(state))), on_thread()))["status"] == "succeeded"
    assert {"stopped read_async", "stopped pay_async"} <= set(folder.lines())


class Silent(BaseChatModel):
    """A model that never answers; `called` is set once it is asked, `stopped` once it no longer has to."""

    called: Any
    stopped: Any

    @property
    def _llm_type(self) -> str:
        return "silent"

    def _generate(self, *_: Any, **__: Any) -> ChatResult:
        raise NotImplementedError

    async def _agenerate(self, *_: Any, **__: Any) -> ChatResult:
        self.called.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.stopped.set()
        raise AssertionError


async def test_a_run_that_is_interrupted_while_it_is_planned_is_planned_when_it_goes_on(folder: Folder) -> None:
    called, stopped = asyncio.Event(), asyncio.Event()
    options = {**folder.options(), "planner": Silent(called=called, stopped=stopped)}
    async with AsyncAgent.open(folder.database, **options) as agent:
        task = asyncio.create_task(agent.start("g", thread="t"))
        await called.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert stopped.is_set()
        assert (await agent.show("t")).status == "paused"
    with Agent.open(folder.database, **folder.options()) as agent:  # with another model, which takes it over
        assert agent.resume("t", take_over=True).status == "waiting"


async def test_a_model_call_that_is_interrupted_is_made_again(folder: Folder) -> None:
    plan = {"steps": [{"id": "think", "objective": "think"}]}

    called, stopped = asyncio.Event(), asyncio.Event()
    options = {"planner": ScriptedModel([plan]), "executor": Silent(called=called, stopped=stopped), "tools": []}
    async with AsyncAgent.open(folder.database, **options) as agent:
        await agent.start("g", thread="t")
        task = asyncio.create_task(agent.resume("t", "approve"))
        await called.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await agent.show("t")).step_status == {"think": "interrupted"}
    with Agent.open(folder.database, planner=ScriptedModel([AIMessage("thought")]), tools=[]) as agent:
        assert agent.resume("t", take_over=True).answer == "thought"
