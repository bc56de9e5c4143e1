"""The facade refuses what it cannot do before anything is written."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from graph import Agent
from graph.errors import AgentClosedError, NothingToDecideError, UnknownRunError
from graph.testing import LoggedTools, ScriptedModel, step

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
