"""Graphs and agents that are made, used and dropped leave no thread, no descriptor and no memory behind."""

import asyncio
import gc
import os
import sqlite3
import sys
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from langchain_core.tools import BaseTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command

from planner_executor import Agent, AgentError, AsyncAgent, build_graph
from planner_executor.graph.errors import AgentClosedError
from planner_executor.graph.testing import LoggedTools, ScriptedModel, on_thread, step

PLAN = {"steps": [step("a", "look", q="x")]}
Use = Callable[[int], None]
FEW, MANY = 30, int(os.environ.get("LIFETIMES", "90"))
"""LIFETIMES=1000 makes a thousand."""
MOST_MB = max(5, (MANY - FEW) // 90)
MOST_BLOCKS = 20
"""How many blocks of Python's memory each may leave behind; a graph has some ten thousand."""


def own_tools() -> list[BaseTool]:
    return [LoggedTools().tool("look", lambda q: q, effect="read")]


def options() -> dict[str, Any]:
    return {"planner": ScriptedModel([PLAN]), "tools": own_tools()}


def use(graph: Any, thread: str) -> None:
    graph.invoke({"goal": "g"}, on_thread(thread))
    assert graph.invoke(Command(resume=True), on_thread(thread))["status"] == "succeeded"


def in_memory(_: Path) -> Use:
    return lambda n: use(build_graph(**options(), checkpointer=InMemorySaver()), str(n))


def in_one_file(folder: Path) -> Use:
    return lambda n: use(build_graph(**options(), checkpointer=InMemorySaver(), ledger=folder / "runs.db"), str(n))


def in_many_files(folder: Path) -> Use:
    def make(n: int) -> None:
        use(build_graph(**options(), checkpointer=InMemorySaver(), ledger=folder / f"{n}.db"), "t")

    return make


def observed(folder: Path) -> Use:
    def make(n: int) -> None:
        seen: list[Any] = []
        observers = [lambda _, drafts: seen.extend(drafts)]
        graph = build_graph(**options(), checkpointer=InMemorySaver(), ledger=folder / "runs.db", observers=observers)
        use(graph, str(n))
        assert seen

    return make


def agents_dropped(folder: Path) -> Use:
    def make(n: int) -> None:
        agent = Agent(folder / "runs.db", **options())
        assert agent.resume(agent.start("g", thread=str(n)).id, "approve").status == "succeeded"

    return make


def agents_closed(folder: Path) -> Use:
    def make(n: int) -> None:
        agent = Agent(folder / "runs.db", **options())
        assert agent.resume(agent.start("g", thread=str(n)).id, "approve").status == "succeeded"
        agent.close()

    return make


def async_agents_dropped(folder: Path) -> Use:
    async def run(n: int) -> None:
        agent = AsyncAgent(folder / "runs.db", **options())
        assert (await agent.resume((await agent.start("g", thread=str(n))).id, "approve")).status == "succeeded"

    return lambda n: asyncio.run(run(n))


WAYS = [in_memory, in_one_file, in_many_files, observed, agents_dropped, agents_closed, async_agents_dropped]


OURS = ("ledger-writer", "agent-loop", "observer", "node-loop")


def our_threads() -> int:
    return sum(thread.name in OURS for thread in threading.enumerate())


def kept(ours: int) -> tuple[int, int]:
    """Return how many threads and descriptors there are, once no more of our threads are left than there were."""
    gc.collect()
    give_up = time.monotonic() + 60
    while our_threads() > ours and time.monotonic() < give_up:
        time.sleep(0.001)
    return our_threads(), len(list(Path("/proc/self/fd").iterdir()))


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="counts descriptors in /proc")
def test_what_is_made_used_and_dropped_leaves_nothing_behind(tmp_path: Path) -> None:
    makes, ours = [way(tmp_path / way.__name__) for way in WAYS], our_threads()
    for way, make in zip(WAYS, makes, strict=True):
        (tmp_path / way.__name__).mkdir()
        make(0)
    before = kept(ours)
    for n, make in product(range(1, 4), makes):
        make(n)

    assert all(now <= then for now, then in zip(kept(ours), before, strict=True))


def in_turn(folder: Path) -> Use:
    makes = [in_memory(folder), in_one_file(folder), agents_dropped(folder)]
    return lambda n: makes[n % len(makes)](n)


@pytest.mark.e2e
@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="counts descriptors in /proc")
def test_many_leave_no_more_behind_than_a_few(tmp_path: Path) -> None:
    make, ours = in_turn(tmp_path), our_threads()
    for n in range(FEW):
        make(n)
    before, before_mb, before_blocks = kept(ours), resident_mb(), sys.getallocatedblocks()
    for n in range(FEW, MANY):
        make(n)

    assert all(now <= then for now, then in zip(kept(ours), before, strict=True))
    assert (sys.getallocatedblocks() - before_blocks) / (MANY - FEW) < MOST_BLOCKS
    assert resident_mb() - before_mb < MOST_MB, "a tenth of a megabyte of each graph was kept"


def test_graphs_over_one_file_share_one_thread_however_they_name_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link.db").symlink_to(tmp_path / "runs.db")
    names = ["runs.db", tmp_path / "runs.db", tmp_path / "link.db", tmp_path / ".." / tmp_path.name / "runs.db"]
    before = {*threading.enumerate()}
    graphs = [build_graph(**options(), checkpointer=InMemorySaver(), ledger=str(name)) for name in names]
    for n, graph in enumerate(graphs):
        use(graph, str(n))

    assert sum(thread.name in OURS for thread in {*threading.enumerate()} - before) == 1


def test_a_file_that_took_the_place_of_another_is_opened_by_those_who_come_later(tmp_path: Path) -> None:
    first = build_graph(**options(), checkpointer=InMemorySaver(), ledger=tmp_path / "runs.db")
    use(first, "a")
    for file in tmp_path.glob("runs.db*"):
        file.unlink()
    use(build_graph(**options(), checkpointer=InMemorySaver(), ledger=tmp_path / "runs.db"), "b")

    with pytest.raises(AgentError, match="replaced"):
        first.invoke({"goal": "g"}, on_thread("c"))


def test_an_agent_works_with_and_without_a_block_until_it_is_closed(tmp_path: Path) -> None:
    with Agent.open(tmp_path / "runs.db", **options()) as inside:
        assert inside.start("g", thread="a").status == "waiting"
    agent = Agent(tmp_path / "runs.db", **options())
    assert [run.thread for run in agent.list()] == ["a"]
    agent.close()
    agent.close()

    for closed in (agent, inside):
        with pytest.raises(AgentClosedError, match="closed"):
            closed.list()


async def test_an_asynchronous_agent_works_with_and_without_a_block(tmp_path: Path) -> None:
    async with AsyncAgent.open(tmp_path / "runs.db", **options()) as inside:
        await inside.start("g", thread="a")
    agent = AsyncAgent(tmp_path / "runs.db", **options())
    found = [run.thread for run in await agent.list()]
    await agent.aclose()
    with pytest.raises(AgentClosedError, match="closed"):
        await agent.list()
    assert found == ["a"]


def test_an_agent_is_used_by_several_threads_at_once(tmp_path: Path) -> None:
    agent = Agent(tmp_path / "runs.db", planner=ScriptedModel([PLAN] * 4), tools=own_tools())
    threads = [threading.Thread(target=agent.start, args=("g",), kwargs={"thread": str(n)}) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(run.thread for run in agent.list()) == ["0", "1", "2", "3"]
    agent.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_forked_process_writes_through_a_connection_of_its_own(tmp_path: Path) -> None:
    database = tmp_path / "runs.db"
    graph = build_graph(
        planner=ScriptedModel([PLAN] * 3), tools=own_tools(), checkpointer=InMemorySaver(), ledger=database
    )
    use(graph, "before")
    child = os.fork()
    if child == 0:
        try:
            use(graph, "child")
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    use(graph, "after")

    with closing(sqlite3.connect(database)) as db, db:
        threads = [thread for (thread,) in db.execute("SELECT thread FROM ledger_runs ORDER BY id")]
        damage = db.execute("PRAGMA integrity_check").fetchall()
    db.close()
    assert (threads, damage) == (["before", "child", "after"], [("ok",)])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_what_a_forked_process_writes_outlives_the_parents_close(tmp_path: Path) -> None:
    """Were the parent's connection open at the fork, the child's locks would be none and its log could be deleted."""
    database, ours = tmp_path / "runs.db", our_threads()
    graph = build_graph(
        planner=ScriptedModel([PLAN] * 3), tools=own_tools(), checkpointer=InMemorySaver(), ledger=database
    )
    use(graph, "before")
    (begun, closed) = (os.pipe(), os.pipe())
    child = os.fork()
    if child == 0:
        try:
            use(graph, "first")
            os.write(begun[1], b"x")
            os.read(closed[0], 1)
            use(graph, "second")
            os._exit(0)
        finally:
            os._exit(1)
    os.read(begun[0], 1)
    del graph
    kept(ours)
    os.write(closed[1], b"x")
    assert os.waitpid(child, 0)[1] == 0

    with closing(sqlite3.connect(database)) as db, db:
        threads = [thread for (thread,) in db.execute("SELECT thread FROM ledger_runs ORDER BY id")]
    db.close()
    for end in (*begun, *closed):
        os.close(end)
    assert threads == ["before", "first", "second"]


def test_a_saver_in_memory_brings_no_warning_and_a_lax_one_in_a_file_does(tmp_path: Path) -> None:
    lax = JsonPlusSerializer(allowed_msgpack_modules=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        build_graph(**options(), checkpointer=InMemorySaver())
    with (
        SqliteSaver.from_conn_string(str(tmp_path / "runs.db")) as saver,
        pytest.warns(UserWarning, match="revives any type"),
    ):
        saver.serde = lax
        build_graph(**options(), checkpointer=saver)


def test_two_graphs_of_a_process_share_a_rate_also_one_after_the_other() -> None:
    policy = {"rates": {"look": 3}}
    waits = []
    for _ in range(3):
        graph = build_graph(**options(), policy=policy)
        services = graph.nodes["planner"].bound._services
        turns = services.turns
        waits.append(turns.wait_s("look"))
        del graph, services, turns

    assert waits[0] == 0 and 19 < waits[1] <= 20 and 39 < waits[2] <= 40


def parts_of_runs() -> Counter[str]:
    """Return the objects of runs that are in memory, by class; a kind of event has a codec for good once it was met."""
    rooms = ("record", "execution", "calls.tool_call", "ledger")
    places = tuple(f"planner_executor.graph.{room}" for room in rooms)
    found = (type(one) for one in gc.get_objects())
    kept = (kind for kind in found if str(kind.__module__).startswith(places))  # some classes of others have no text
    return Counter(kind.__qualname__ for kind in kept if kind.__qualname__ != "_Codec")


@pytest.mark.parametrize("tool", ["look", "fail"])
def test_a_run_that_has_ended_leaves_nothing_to_the_garbage_collector(tool: str, tmp_path: Path) -> None:
    # No approval: LangGraph's interrupts leave tracebacks that only the garbage collector frees.
    plan = {"steps": [step("a", "look", q="x"), step("b", tool, q="{a_result}")]}
    logged = LoggedTools()
    tools = [logged.tool("look", lambda q: q, effect="read"), logged.tool("fail", lambda q: [].pop(), effect="read")]

    async def left() -> Counter[str]:
        models = {"planner": ScriptedModel([plan] * 2), "replanner": ScriptedModel([{"outcome": "give_up"}] * 2)}
        async with AsyncAgent.open(tmp_path / "runs.db", **models, tools=tools, approval="never") as agent:
            assert (await agent.start("g")).ended
            gc.collect()
            gc.disable()
            try:
                before = parts_of_runs()
                assert (await agent.start("g")).ended
                for _ in range(1_000):  # the thread of the database lets go of its last work a moment later
                    if not (more := parts_of_runs() - before):
                        break
                    await asyncio.sleep(0.001)
                return more
            finally:
                gc.enable()

    assert not asyncio.run(left())
