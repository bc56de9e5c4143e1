"""The facade: one database, opened again and again, from synchronous and asynchronous code."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from planner_executor import Agent, AgentError, AsyncAgent
from planner_executor.graph.errors import InputError, LedgerUnavailableError, NothingToDecideError, UnknownRunError
from planner_executor.graph.testing import LoggedTools, ScriptedModel, step

PLAN = {"steps": [step("a", "look", name="x"), step("b", "look", name="{a_result}!")]}


@pytest.fixture
def options(tools: LoggedTools) -> dict[str, Any]:
    return {"planner": ScriptedModel([PLAN, PLAN]), "tools": [tools.tool("look", lambda name: name, effect="read")]}


def test_a_run_waits_in_the_file_and_another_process_may_decide(tmp_path: Path, options: dict[str, Any]) -> None:
    database = tmp_path / "runs.db"
    with Agent.open(database, **options) as agent:
        started = agent.start("g", constraints=["c"], setup={"documents": "docs"})
        assert started.status == "waiting" and started.request is not None

    with Agent.open(database, **options) as agent:
        assert agent.show(started.id).request == started.request
        ended = agent.resume(started.id, "approve")

    assert (ended.status, ended.answer, ended.setup) == ("succeeded", "x!", {"documents": "docs"})
    assert ended.step_status == {"a": "succeeded", "b": "succeeded"}


def test_an_agent_in_memory_carries_a_run_to_its_end_and_makes_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
) -> None:
    monkeypatch.chdir(tmp_path)
    with Agent.open(":memory:", **options) as agent:
        assert agent.resume(agent.start("g").id, "approve").answer == "x!"

    assert list(tmp_path.iterdir()) == []


async def test_the_asynchronous_facade_does_the_same(tmp_path: Path, options: dict[str, Any]) -> None:
    async with AsyncAgent.open(tmp_path / "runs.db", **options) as agent:
        started = await agent.start("g")
        assert (await agent.resume(started.thread, {"type": "approve"})).status == "succeeded"


async def test_the_synchronous_facade_works_inside_a_running_loop(tmp_path: Path, options: dict[str, Any]) -> None:
    with Agent.open(tmp_path / "runs.db", **options) as agent:
        assert agent.resume(agent.start("g").id, "approve").status == "succeeded"


def test_progress_is_reported_step_by_step(tmp_path: Path, options: dict[str, Any]) -> None:
    seen: list[tuple[str, str]] = []
    with Agent.open(tmp_path / "runs.db", **options) as agent:
        run = agent.start("g")
        agent.resume(run.id, "approve", on_progress=lambda change: seen.append((change["step"], change["status"])))

    assert seen == [("a", "running"), ("a", "succeeded"), ("b", "running"), ("b", "succeeded")]


def test_runs_are_listed_and_cancelled_and_a_cancelled_run_runs_nothing(
    tmp_path: Path, options: dict[str, Any], tools: LoggedTools
) -> None:
    with Agent.open(tmp_path / "runs.db", **options) as agent:
        first, second = agent.start("one"), agent.start("two")
        assert [run.goal for run in agent.list()] == ["two", "one"]

        assert agent.cancel(first.id).status == "cancelled"
        with pytest.raises(NothingToDecideError):
            agent.resume(first.id, "approve")
        assert agent.resume(first.id).status == "cancelled" and agent.cancel(first.id).status == "cancelled"
        assert agent.show(second.id).status == "waiting" and tools.calls == []


def test_what_no_checkpoint_holds_is_asked_again_with_its_issues(tmp_path: Path, options: dict[str, Any]) -> None:
    beyond = {"steps": [step("a", n=2**64)]}
    with Agent.open(tmp_path / "runs.db", **options) as agent:
        run = agent.start("g")
        asked = [agent.resume(run.id, decision).request or {} for decision in (beyond, 2**64)]
        edited = agent.edit(run.id, beyond).request or {}
        text = agent.edit(run.id, json.dumps({"steps": [step("a", n=1)]}))
        assert agent.resume(text.id, "approve").status == "succeeded"
    assert "64 bits" in str(asked[0]["issues"]) and asked[1]["error"] and "64 bits" in str(edited["issues"])


def test_what_cannot_be_done_is_said_in_a_typed_error(tmp_path: Path, options: dict[str, Any]) -> None:
    with Agent.open(tmp_path / "runs.db", **options) as agent:
        with pytest.raises(UnknownRunError):
            agent.show("nobody")
        with pytest.raises(InputError):
            agent.start("   ")
        run = agent.start("g")
        with pytest.raises(InputError):
            agent.resume(run.id, {})
        agent.resume(run.id, "approve")
        with pytest.raises(NothingToDecideError):
            agent.resume(run.id, "approve")


def test_an_older_run_of_a_thread_cannot_be_resumed(tmp_path: Path, options: dict[str, Any]) -> None:
    with Agent.open(tmp_path / "runs.db", **options) as agent:
        first = agent.start("one", thread="t")
        agent.start("two", thread="t")
        with pytest.raises(InputError):
            agent.resume(first.id, "approve")


@pytest.mark.parametrize("place", ["missing/runs.db", "file/runs.db", "folder"])
def test_a_database_that_cannot_be_used_is_named(tmp_path: Path, options: dict[str, Any], place: str) -> None:
    (tmp_path / "file").write_text("no folder")
    (tmp_path / "folder").mkdir()

    with pytest.raises(LedgerUnavailableError) as caught, Agent.open(tmp_path / place, **options):
        pass

    assert isinstance(caught.value, AgentError) and place in str(caught.value)


def test_the_database_belongs_to_its_owner_alone(tmp_path: Path, options: dict[str, Any]) -> None:
    with Agent.open(tmp_path / "runs.db", **options) as agent:
        agent.start("g")
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}

    assert modes and set(modes.values()) == {0o600}
