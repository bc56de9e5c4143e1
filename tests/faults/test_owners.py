"""One owner per run: races, takeovers, suspended workers, and messages to an owner elsewhere."""

import asyncio
import json
import os
import re
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from desk_server import query, served
from owners import PLAN, fork, slow_tool, work_on
from typer.testing import CliRunner

from planner_executor import Agent, AsyncAgent
from planner_executor.graph.cli import app
from planner_executor.graph.errors import LeaseLostError
from planner_executor.graph.ledger.drivers import open_ledger
from planner_executor.graph.ledger.lease import PACE
from planner_executor.graph.testing import ScriptedModel, drafted, on_thread

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")]


def worker(folder: Path, name: str, decision: Any = None) -> int:
    return fork(lambda: asyncio.run(work_on(folder, name, decision)))


def until(true: Callable[[], bool]) -> None:
    while not true():
        threading.Event().wait(0.01)


def begun(folder: Path) -> list[str]:
    return (folder / "begun").read_text().splitlines() if (folder / "begun").exists() else []


def effects(folder: Path) -> list[str]:
    return (folder / "effects").read_text().split() if (folder / "effects").exists() else []


def said(folder: Path, name: str) -> str:
    return (folder / f"said-{name}").read_text()


def start_and_wait(folder: Path) -> None:
    with Agent.open(folder / "runs.db", planner=ScriptedModel([PLAN]), tools=[slow_tool(folder)]) as agent:
        agent.start("own it", thread="t")


@pytest.mark.parametrize("processes", [2, 3])
def test_of_processes_that_race_for_a_run_one_does_it_and_the_others_are_told(tmp_path: Path, processes: int) -> None:
    start_and_wait(tmp_path)
    first = worker(tmp_path, "0", "approve")
    until(lambda: len(begun(tmp_path)) == 1)

    others = [worker(tmp_path, str(number)) for number in range(1, processes)]
    for pid in others:
        os.waitpid(pid, 0)
    (tmp_path / "go").touch()
    os.waitpid(first, 0)

    assert said(tmp_path, "0") == "succeeded" and effects(tmp_path) == ["a", "b"]
    assert {said(tmp_path, str(number)) for number in range(1, processes)} == {"RunOwnedError"}


def test_processes_that_approve_at_once_run_each_step_once(tmp_path: Path) -> None:
    start_and_wait(tmp_path)
    (tmp_path / "go").touch()

    for pid in [worker(tmp_path, str(number), "approve") for number in range(3)]:
        os.waitpid(pid, 0)

    ended = [said(tmp_path, str(number)) for number in range(3)]
    assert sorted(effects(tmp_path)) == ["a", "b"] and "succeeded" in ended
    assert set(ended) <= {"succeeded", "RunOwnedError", "StaleRunError", "NothingToDecideError", "LeaseLostError"}


def test_a_second_thread_is_refused_like_a_second_process(tmp_path: Path) -> None:
    start_and_wait(tmp_path)
    owner = threading.Thread(target=lambda: asyncio.run(work_on(tmp_path, "owner", "approve")))
    owner.start()
    until(lambda: len(begun(tmp_path)) == 1)

    asyncio.run(work_on(tmp_path, "challenger"))
    (tmp_path / "go").touch()
    owner.join()

    assert (said(tmp_path, "challenger"), said(tmp_path, "owner")) == ("RunOwnedError", "succeeded")
    assert effects(tmp_path) == ["a", "b"]


def test_a_killed_owner_is_replaced_at_once_on_the_same_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(vars(PACE), "lease_s", 3_600.0)  # an heir that waits for it hangs
    start_and_wait(tmp_path)
    owner = worker(tmp_path, "owner", "approve")
    until(lambda: len(begun(tmp_path)) == 1)
    os.kill(owner, signal.SIGKILL)
    os.waitpid(owner, 0)
    (tmp_path / "go").touch()

    os.waitpid(worker(tmp_path, "heir"), 0)

    assert said(tmp_path, "heir") == "succeeded"


async def test_a_suspended_owner_is_replaced_and_can_write_nothing_when_it_wakes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(vars(PACE), "lease_s", 1.0)  # how long it is by default: test_lease.py
    start_and_wait(tmp_path)
    owner = worker(tmp_path, "owner", "approve")
    until(lambda: len(begun(tmp_path)) == 1)
    os.kill(owner, signal.SIGSTOP)

    (tmp_path / "go").touch()
    os.waitpid(worker(tmp_path, "heir"), 0)
    os.kill(owner, signal.SIGCONT)
    os.waitpid(owner, 0)

    assert said(tmp_path, "heir") == "succeeded"
    assert said(tmp_path, "owner") == "LeaseLostError"
    log = await events(tmp_path)
    assert [event.kind for event in log].count("run_ended") == 1 and log[-1].kind == "run_ended"


async def events(folder: Path) -> Any:
    ledger = open_ledger(folder / "runs.db")
    (run,) = await ledger.runs()
    found = await ledger.events(run)
    await ledger.close()
    return found


@pytest.mark.parametrize(("message", "status"), [("pause", "paused"), ("cancel", "cancelled")])
def test_a_message_reaches_an_owner_elsewhere_before_its_next_call(tmp_path: Path, message: str, status: str) -> None:
    start_and_wait(tmp_path)
    owner = worker(tmp_path, "owner", "approve")
    until(lambda: len(begun(tmp_path)) == 1)

    with Agent.open(tmp_path / "runs.db", planner=ScriptedModel([]), tools=[slow_tool(tmp_path)]) as agent:
        assert getattr(agent, message)("t").status == "running"
        (tmp_path / "go").touch()
        os.waitpid(owner, 0)

        assert said(tmp_path, "owner") == status and effects(tmp_path) == ["a"]
        assert agent.show("t").status == status
        if message == "pause":
            assert agent.resume("t").status == "succeeded" and effects(tmp_path) == ["a", "b"]


async def test_an_outdated_token_writes_nothing(tmp_path: Path) -> None:
    ledger = open_ledger(tmp_path / "runs.db")
    run = await ledger.open_run("t", [drafted("run_started", {"goal": "g", "constraints": []})])
    async with ledger.owned(run) as old:
        pass
    async with ledger.owned(run) as new:
        with pytest.raises(LeaseLostError):
            await ledger.append(old, [drafted("paused")])
        assert await ledger.append(new, [drafted("paused")]) == 2
    await ledger.close()


def status_on_surfaces(folder: Path) -> dict[str, str]:
    """Return the status of the run on each surface, as processes tell it that do not execute it."""
    database = folder / "runs.db"
    with Agent.open(database, planner=ScriptedModel([]), tools=[slow_tool(folder)]) as agent:
        found = {"Python": agent.show("t").status, "list": agent.list()[0].status}
        run = agent.show("t").id
    with served(database) as server, server.visit() as visit:
        for name, path, place in (("desk", query("", run), "<main"), ("desk's list", "/runs", "<tr data-row")):
            page = visit.get(path).text.partition(place)[2]
            found |= dict.fromkeys([name], ", ".join(re.findall(r'class="status" data-status="(\w+)"', page)[:1]))
    shown = CliRunner().invoke(app, ["show", run, "--db", str(database), "--json"])
    return found | {"terminal": json.loads(shown.stdout)["status"]}


def chat_line(folder: Path) -> str:
    """Return the last line of the chat, as a server has it."""

    async def read() -> str:
        async with AsyncAgent.open(folder / "runs.db", planner=ScriptedModel([]), tools=[slow_tool(folder)]) as agent:
            state = await agent.graph.aget_state(on_thread("t"))
        return str(state.values["messages"][-1].text)

    return asyncio.run(read())


def test_of_a_killed_owner_every_surface_tells_one_status_and_after_a_cancel_too(tmp_path: Path) -> None:
    start_and_wait(tmp_path)
    assert set(status_on_surfaces(tmp_path).values()) == {"waiting"}
    owner = worker(tmp_path, "owner", "approve")
    until(lambda: len(begun(tmp_path)) == 1)
    assert set(status_on_surfaces(tmp_path).values()) == {"running"}
    os.kill(owner, signal.SIGKILL)
    os.waitpid(owner, 0)

    assert set(status_on_surfaces(tmp_path).values()) == {"paused"}
    with Agent.open(tmp_path / "runs.db", planner=ScriptedModel([]), tools=[slow_tool(tmp_path)]) as agent:
        agent.cancel("t")
    assert set(status_on_surfaces(tmp_path).values()) == {"cancelled"} and "cancelled" in chat_line(tmp_path)
