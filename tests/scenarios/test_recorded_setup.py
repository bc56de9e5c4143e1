"""What a run needs to be resumed elsewhere comes from the facade alone, and is obeyed for no other run."""

from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from planner_executor import Agent, build_graph
from planner_executor.graph.builder.graph_builder import Graph
from planner_executor.graph.caller import Caller, caller_on, invoked_by
from planner_executor.graph.checkpoints.saver import strict_serializer
from planner_executor.graph.errors import InputError
from planner_executor.graph.ledger.drivers import open_ledger
from planner_executor.graph.runs.runs import Runs
from planner_executor.graph.testing import LoggedTools, ScriptedModel, asked, drafted, on_thread, step

PLAN = {"steps": [step("a", "look", name="x")]}
SETUP = {"workspace": "/elsewhere", "approval": "never"}


def raw(tool: Any, ledger: Path) -> Graph:
    saver = InMemorySaver(serde=strict_serializer())
    return build_graph(ScriptedModel([PLAN]), tools=[tool], checkpointer=saver, ledger=ledger)


@pytest.fixture
def look(tools: LoggedTools) -> Any:
    return tools.tool("look", lambda name: name, effect="read")


def test_what_the_facade_says_is_remembered_as_the_facades(tmp_path: Path, look: Any) -> None:
    with Agent.open(tmp_path / "runs.db", planner=ScriptedModel([PLAN]), tools=[look]) as agent:
        run = agent.start("g", setup=SETUP)
        (started,) = [event.payload for event in agent.log(run.id) if event.kind == "run_started"]

    assert (run.setup, run.unproven_setup, started["setup_by"]) == (SETUP, {}, "facade")


@pytest.mark.parametrize("where", ["configurable", "metadata", "input"])
def test_what_a_client_says_is_not_kept(tmp_path: Path, look: Any, where: str) -> None:
    graph = raw(look, tmp_path / "runs.db")
    said = {"setup": SETUP, "setup_by": "facade"}
    config = {"configurable": {"thread_id": "t", **(said if where == "configurable" else {})}}
    graph.invoke(
        {"goal": "g", **(said if where == "input" else {})},
        config | ({"metadata": said} if where == "metadata" else {}),
    )

    with Agent.open(tmp_path / "runs.db", planner="offline", tools=[look]) as agent:
        run = agent.show("t")

    assert (run.setup, run.unproven_setup) == ({}, {})


async def test_what_an_older_record_says_is_told_apart(tmp_path: Path) -> None:
    ledger = open_ledger(tmp_path / "runs.db")
    await ledger.open_run("t", [drafted("run_started", {"goal": "g", "constraints": [], "setup": SETUP})])
    run = await Runs(ledger).show("t")
    await ledger.close()
    run = run

    assert (run.setup, run.unproven_setup) == ({}, SETUP)


def test_a_graph_that_a_tool_invokes_has_no_facade() -> None:
    with invoked_by(Caller.facade("outer", SETUP, unseen=True)):
        outer, inner = caller_on("outer"), caller_on("inner")

    assert (outer.started["setup"], outer.unseen) == (SETUP, True)
    assert (inner.started["setup"], inner.unseen) == ({}, False)
    assert caller_on("outer").started["setup"] == {}


def test_nobody_but_the_facade_says_that_a_decision_was_given_unseen(tmp_path: Path, look: Any) -> None:
    graph = raw(look, tmp_path / "runs.db")
    asked(graph.invoke({"goal": "g"}, on_thread("t")))
    graph.invoke(Command(resume="approve"), {"configurable": {"thread_id": "t", "unseen": True}})

    with Agent.open(tmp_path / "runs.db", planner="offline", tools=[look]) as agent:
        (decided,) = [event.payload for event in agent.log("t") if event.kind == "decided"]

    assert decided["by"] == "person"


def test_a_thread_that_bears_the_name_of_another_threads_run_is_not_taken_for_it(tmp_path: Path, look: Any) -> None:
    with Agent.open(tmp_path / "runs.db", planner=ScriptedModel([PLAN, PLAN]), tools=[look]) as agent:
        first, second = agent.start("one", thread="demo"), agent.start("two", thread="demo.1")
        ended = agent.resume("demo.1.1", "approve")

        assert (ended.id, ended.goal, ended.status) == ("demo.1.1", "two", "succeeded")
        assert agent.show(first.id).status == "waiting"
        with pytest.raises(InputError):
            agent.resume(second.id, "approve")
