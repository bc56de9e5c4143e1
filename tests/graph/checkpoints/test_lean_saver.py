"""Our SQLite saver: small rows and few of them, and nothing lost that LangGraph's own would have kept."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypedDict

import aiosqlite
import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

from planner_executor.graph.checkpoints.checkpoint import open_checkpointer
from planner_executor.graph.checkpoints.lean_saver import LeanSaver, PackedSerializer
from planner_executor.graph.checkpoints.saver import strict_serializer
from planner_executor.graph.testing import on_thread

RUN = {"thread": "t", "n": 1, "id": "t.1", "seq": 3}
Saver = AsyncSqliteSaver


class Fields(TypedDict, total=False):
    run: dict[str, Any]
    said: str
    answer: str


def two_at_once(saver: Saver, done: list[str], names_its_run: bool = True) -> Any:
    """Return a graph in which one node returns and another asks a person, in the same step."""

    async def works(_: Fields) -> dict[str, Any]:
        done.append("works")
        return {"run": RUN} if names_its_run else {"said": "done"}

    async def asks(_: Fields) -> dict[str, Any]:
        if done.count("works") == 0:
            await asyncio.sleep(0)
        return {"answer": interrupt("?")}

    graph = StateGraph(Fields)
    graph.add_node("works", works)
    graph.add_node("asks", asks)
    for node in ("works", "asks"):
        graph.add_edge(START, node)
        graph.add_edge(node, END)
    return graph.compile(checkpointer=saver)


def in_file(path: Path, work: Callable[[Saver], Awaitable[Any]]) -> Any:
    async def main() -> Any:
        async with open_checkpointer(path) as saver:
            return await work(saver)

    return asyncio.run(main())


async def pending(saver: Saver) -> list[str]:
    found = await saver.conn.execute_fetchall("SELECT channel FROM writes")
    return sorted(channel for (channel,) in found)


@pytest.mark.parametrize("names_its_run", [True, False])
def test_a_node_that_has_returned_does_not_run_again_since_another_asks(tmp_path: Path, names_its_run: bool) -> None:
    done: list[str] = []

    async def ask(saver: Saver) -> None:
        await two_at_once(saver, done, names_its_run).ainvoke({"said": "go"}, on_thread(), durability="sync")

    async def answer(saver: Saver) -> Any:
        return await two_at_once(saver, done, names_its_run).ainvoke(Command(resume="yes"), on_thread())

    in_file(tmp_path / "x.db", ask)
    state = in_file(tmp_path / "x.db", answer)

    assert state["answer"] == "yes" and done == ["works"]


def test_what_a_node_of_ours_returned_is_kept_by_the_next_checkpoint_alone(tmp_path: Path) -> None:
    async def one(saver: Saver) -> tuple[Any, list[str]]:
        graph = StateGraph(Fields)

        async def works(_: Fields) -> dict[str, Any]:
            return {"run": RUN, "said": "done"}

        graph.add_node("works", works)
        graph.add_edge(START, "works")
        app = graph.compile(checkpointer=saver)
        return await app.ainvoke({"said": "go"}, on_thread(), durability="sync"), await pending(saver)

    assert in_file(tmp_path / "x.db", one) == ({"run": RUN, "said": "done"}, [])


def test_what_nodes_of_others_returned_is_kept_as_langgraph_keeps_it(tmp_path: Path) -> None:
    async def one(saver: Saver) -> list[str]:
        graph = StateGraph(Fields)
        graph.add_node("works", lambda _: {"said": "done"})
        graph.add_edge(START, "works")
        await graph.compile(checkpointer=saver).ainvoke({"said": "go"}, on_thread(), durability="sync")
        return await pending(saver)

    assert in_file(tmp_path / "x.db", one) == ["said"]


def test_what_langgraphs_own_saver_wrote_is_read_and_gone_on_with(tmp_path: Path) -> None:
    done: list[str] = []

    async def begin() -> None:
        async with aiosqlite.connect(tmp_path / "x.db") as connection:
            saver = AsyncSqliteSaver(connection, serde=strict_serializer())
            await two_at_once(saver, done).ainvoke({"said": "go"}, on_thread(), durability="sync")

    async def go_on(saver: Saver) -> Any:
        state = await two_at_once(saver, done).ainvoke(Command(resume="yes"), on_thread())
        history = [found.config["configurable"]["checkpoint_id"] async for found in saver.alist(on_thread())]
        return state, history

    asyncio.run(begin())
    state, history = in_file(tmp_path / "x.db", go_on)

    assert (state["answer"], done) == ("yes", ["works"])
    assert len(history) == 3 and history == sorted(history, reverse=True)


def test_an_earlier_checkpoint_is_found_by_its_id_and_none_where_there_is_none(tmp_path: Path) -> None:
    async def look(saver: Saver) -> tuple[list[Any], Any]:
        app = two_at_once(saver, [])
        await app.ainvoke({"said": "go"}, on_thread(), durability="sync")
        history = [found async for found in saver.alist(on_thread())]
        again = [await saver.aget_tuple(found.config) for found in history]
        assert [one and one.checkpoint for one in again] == [found.checkpoint for found in history]
        assert [one and one.parent_config for one in again] == [found.parent_config for found in history]
        return history, await saver.aget_tuple(on_thread("another"))

    history, nothing = in_file(tmp_path / "x.db", look)

    assert len(history) == 2 and nothing is None


async def test_versions_count_up_from_langgraphs_own() -> None:
    async with aiosqlite.connect(":memory:") as connection:
        saver, theirs = LeanSaver(connection), AsyncSqliteSaver(connection)
        first = theirs.get_next_version(None, None)
        second = saver.get_next_version(first, None)
        first, second, third, ours = [
            first,
            second,
            theirs.get_next_version(second, None),
            saver.get_next_version(None, None),
        ]

    assert first < second < third and ours < second


@pytest.mark.parametrize("value", [None, "a", "a" * 1_000, {"messages": [HumanMessage("x" * 200), AIMessage("y")]}])
def test_values_come_back_as_they_were(value: Any) -> None:
    serializer = PackedSerializer()

    assert serializer.loads_typed(serializer.dumps_typed(value)) == value
    assert serializer.loads_typed(strict_serializer().dumps_typed(value)) == value
