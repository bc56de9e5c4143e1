"""The facade refuses what it cannot do before anything is written."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from planner_executor import Agent, AsyncAgent
from planner_executor.graph.errors import (
    AgentClosedError,
    ConfigError,
    InputError,
    NothingToDecideError,
    UnknownRunError,
)
from planner_executor.graph.lifetime import OpenOnUse
from planner_executor.graph.testing import LoggedTools, ScriptedModel, step

PLAN = {"steps": [step("a", "look", name="x")]}


@pytest.fixture
def agent(tmp_path: Path, tools: LoggedTools) -> Iterator[Agent]:
    look = tools.tool("look", lambda name: name, effect="read")
    with Agent.open(tmp_path / "runs.db", planner=ScriptedModel([PLAN, PLAN]), tools=[look]) as opened:
        yield opened


def test_a_run_starts_with_its_plan_shown_and_nothing_called(agent: Agent, tools: LoggedTools) -> None:
    run = agent.start("g")

    assert run.status == "waiting" and run.request is not None and tools.calls == []


def test_a_run_is_resumed_by_its_id_or_its_thread(agent: Agent) -> None:
    first, second = agent.start("g", thread="one"), agent.start("g", thread="two")

    assert agent.resume(first.id, "approve").status == agent.resume("two", "approve").status == "succeeded"
    assert second.id == "two.1"


def test_a_second_goal_on_a_thread_is_a_run_of_its_own(agent: Agent) -> None:
    assert [agent.start(goal, thread="t").id for goal in ("g", "h")] == ["t.1", "t.2"]


def test_a_decision_on_a_run_that_asks_nothing_is_refused(agent: Agent) -> None:
    run = agent.start("g")
    agent.resume(run.id, "approve")

    with pytest.raises(NothingToDecideError):
        agent.resume(run.id, "approve")


def test_an_unknown_run_is_named(agent: Agent) -> None:
    with pytest.raises(UnknownRunError, match="nowhere"):
        agent.resume("nowhere", "approve")


def test_an_agent_that_is_closed_says_so(agent: Agent) -> None:
    agent.close()

    with pytest.raises(AgentClosedError):
        agent.start("g")


def test_a_run_is_named_by_text(agent: Agent) -> None:
    run = agent.start("g")

    with pytest.raises(InputError, match="give a run by its id or its thread, got Run"):
        agent.resume(run, "approve")  # type: ignore[arg-type]


def test_none_is_no_decision_on_a_run_that_waits(agent: Agent) -> None:
    run = agent.start("g")

    with pytest.raises(InputError, match=f"None decides nothing, and {run.id} waits"):
        agent.resume(run.id, None)
    assert agent.resume(run.id).status == "waiting"
    assert agent.resume(run.id, "approve").status == "succeeded"
    assert agent.resume(run.id, None).status == "succeeded"


def test_who_comes_second_with_an_approval_learns_who_decided(agent: Agent) -> None:
    run = agent.start("g")
    agent.resume(run.id, "approve")

    with pytest.raises(NothingToDecideError, match=r"os:\S+ has decided already \(approve\); it has ended: succeeded"):
        agent.resume(run.id, "approve")


@pytest.mark.parametrize(
    ("database", "options", "words"),
    [
        (5, {}, "database must be the path of an SQLite file or the address of a PostgreSQL database, got int"),
        (None, {}, "database must be the path of an SQLite file or the address of a PostgreSQL database, got NoneType"),
        ("openai:gpt-5", {}, "looks like a model; name the model with planner='openai:gpt-5'"),
        ("runs.db", {"checkpointer": True}, "checkpointer cannot be given"),
        ("runs.db", {"ledger": "other.db"}, "ledger cannot be given"),
        (" ", {}, "the name of the database is blank"),
        ("runs.db", {"planer": "offline"}, "planer: unknown argument; did you mean planner"),
        ("runs.db", {"approval": "perhaps"}, "approval must be one of"),
        (":memory:", {"planner": "nobody:gpt-5"}, "no provider 'nobody'"),
        (":memory:", {"keep_checkpoints": "some"}, "keep_checkpoints must be one of"),
    ],
)
def test_what_an_agent_cannot_be_opened_with_is_said_before_a_file_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, database: Any, options: dict[str, Any], words: str
) -> None:
    monkeypatch.chdir(tmp_path)

    with pytest.raises(ConfigError, match=words), Agent.open(database, **options):
        pass
    assert not list(tmp_path.iterdir())


def test_an_agent_entered_the_wrong_way_says_the_right_one(tmp_path: Path) -> None:
    async def with_the_synchronous_one() -> None:
        async with Agent.open(tmp_path / "runs.db"):
            pass

    async def awaited() -> None:
        await AsyncAgent.open(tmp_path / "runs.db")

    for misused in (with_the_synchronous_one, awaited):
        with pytest.raises(ConfigError, match="async with"):
            asyncio.run(misused())
    with pytest.raises(ConfigError, match="async with AsyncAgent"), AsyncAgent.open(tmp_path / "runs.db"):
        pass


async def test_ledger_and_database_are_closed_also_if_the_graph_cannot_be(tmp_path: Path) -> None:
    @asynccontextmanager
    async def held_open() -> AsyncIterator[Any]:
        yield None
        raise OSError("it cannot be closed")

    agent = AsyncAgent.open(tmp_path / "runs.db", tools=[])
    await agent.list()
    agent._open = OpenOnUse("runs.db", held_open)
    await agent._open.get()

    with pytest.raises(OSError, match="cannot be closed"):
        await agent.aclose()
    with pytest.raises(AgentClosedError):
        await agent.list()
