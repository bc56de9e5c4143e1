"""`.invoke` and `.ainvoke`, tools that can only be called or only be awaited, inside a loop and outside."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import aiosqlite
import pytest
from langchain_core.tools import BaseTool
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command

from planner_executor import build_graph
from planner_executor.graph.checkpoints.saver import strict_serializer
from planner_executor.graph.testing import LoggedTools, ScriptedModel, on_thread, step

PLAN = {"steps": [step("a", "called", n=1), step("b", "awaited", n=2), step("c", "awaited", n="{a_result}{b_result}")]}


def mixed(tools: LoggedTools) -> list[BaseTool]:
    return [
        tools.tool("called", lambda n: f"<{n}>", effect="read"),
        tools.tool("awaited", lambda n: f"({n})", effect="read", is_async=True),
    ]


@pytest.fixture
def graph(saver: Any, tools: LoggedTools) -> Any:
    return build_graph(ScriptedModel([PLAN]), tools=mixed(tools), checkpointer=saver)


def test_invoke(graph: Any) -> None:
    graph.invoke({"goal": "g"}, on_thread())
    assert graph.invoke(Command(resume="yes"), on_thread())["answer"] == "(<1>(2))"


async def test_ainvoke(graph: Any) -> None:
    await graph.ainvoke({"goal": "g"}, on_thread())
    assert (await graph.ainvoke(Command(resume="yes"), on_thread()))["answer"] == "(<1>(2))"


async def test_invoke_inside_a_running_loop(graph: Any) -> None:
    graph.invoke({"goal": "g"}, on_thread())
    assert graph.invoke(Command(resume="yes"), on_thread())["answer"] == "(<1>(2))"


async def test_each_call_may_come_from_another_loop_or_none(graph: Any) -> None:
    await graph.ainvoke({"goal": "g"}, on_thread())
    assert graph.invoke(Command(resume="yes"), on_thread())["answer"] == "(<1>(2))"


def test_a_graph_over_a_sqlite_saver_keeps_its_ledger_in_the_same_file(tmp_path: Path, tools: LoggedTools) -> None:
    with SqliteSaver.from_conn_string(str(tmp_path / "runs.db")) as saver:
        saver.serde = strict_serializer()
        graph = build_graph(ScriptedModel([PLAN]), tools=mixed(tools), checkpointer=saver)
        graph.invoke({"goal": "g"}, on_thread())

    with SqliteSaver.from_conn_string(str(tmp_path / "runs.db")) as saver:
        saver.serde = strict_serializer()
        again = build_graph(ScriptedModel([]), tools=mixed(tools), checkpointer=saver)
        assert again.invoke(Command(resume="yes"), on_thread())["status"] == "succeeded"


def test_a_graph_over_an_async_sqlite_saver_keeps_its_ledger_in_the_same_file(
    tmp_path: Path, tools: LoggedTools
) -> None:
    async def with_saver(work: Callable[[Any], Any], *answers: Any) -> Any:
        async with aiosqlite.connect(tmp_path / "runs.db") as connection:
            saver = AsyncSqliteSaver(connection, serde=strict_serializer())
            return await work(build_graph(ScriptedModel(answers), tools=mixed(tools), checkpointer=saver))

    asyncio.run(with_saver(lambda graph: graph.ainvoke({"goal": "g"}, on_thread()), PLAN))
    state = asyncio.run(with_saver(lambda graph: graph.ainvoke(Command(resume="yes"), on_thread())))

    assert state["status"] == "succeeded"


def test_two_graphs_over_one_saver_in_memory_share_the_ledger(saver: Any, tools: LoggedTools) -> None:
    build_graph(ScriptedModel([PLAN]), tools=mixed(tools), checkpointer=saver).invoke({"goal": "g"}, on_thread())

    other = build_graph(ScriptedModel([]), tools=mixed(tools), checkpointer=saver)

    assert other.invoke(Command(resume="yes"), on_thread())["status"] == "succeeded"


def test_without_a_checkpointer_a_plan_that_needs_nobody_runs(tools: LoggedTools) -> None:
    graph = build_graph(ScriptedModel([PLAN]), tools=mixed(tools), approval="side_effects")

    assert graph.invoke({"goal": "g"})["answer"] == "(<1>(2))"


def test_progress_is_streamed_while_the_executor_works(graph: Any) -> None:
    graph.invoke({"goal": "g"}, on_thread())

    def changes() -> Iterator[tuple[str, str]]:
        for event in graph.stream(Command(resume="yes"), on_thread(), stream_mode="custom"):
            yield event["step"], event["status"]

    assert list(changes())[-2:] == [("c", "running"), ("c", "succeeded")]
