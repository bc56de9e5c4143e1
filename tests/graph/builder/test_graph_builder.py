import asyncio
import signal
import threading
from pathlib import Path

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver

from planner_executor import build_graph
from planner_executor.graph.builder.graph_builder import on_a_loop
from planner_executor.graph.checkpoints.saver import strict_serializer
from planner_executor.graph.testing import ScriptedModel


async def failing(error: BaseException) -> dict:
    raise error


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit(3), asyncio.CancelledError("stopped")], ids=repr)
async def test_a_node_raises_the_same_inside_a_running_loop_and_outside(error: BaseException) -> None:
    with pytest.raises(type(error)):
        on_a_loop(failing(error))
    with pytest.raises(type(error)):
        on_a_loop(failing(error))


async def test_an_interrupted_node_inside_a_running_loop_leaves_no_work_behind() -> None:
    caller, ended = threading.get_ident(), threading.Event()

    async def node() -> dict:
        try:
            signal.pthread_kill(caller, signal.SIGINT)
            await asyncio.Event().wait()
        finally:
            ended.set()
        return {}

    signal.signal(signal.SIGINT, signal.default_int_handler)  # as in a notebook's kernel
    with pytest.raises(KeyboardInterrupt):
        on_a_loop(node())
    assert ended.is_set()


def test_the_graph_has_its_four_nodes_and_reaches_the_executor_through_review_only() -> None:
    drawn = build_graph(ScriptedModel([]), tools=[]).get_graph()

    assert set(drawn.nodes) == {"__start__", "planner", "review", "executor", "replanner", "__end__"}
    assert {edge.source for edge in drawn.edges if edge.target == "executor"} == {"review"}


def test_a_serializer_that_revives_any_type_is_warned_of(tmp_path: Path) -> None:
    with SqliteSaver.from_conn_string(str(tmp_path / "runs.db")) as saver:
        with pytest.warns(UserWarning, match="revives any type"):
            build_graph(ScriptedModel([]), tools=[], checkpointer=saver)
        saver.serde = strict_serializer()
        build_graph(ScriptedModel([]), tools=[], checkpointer=saver)


def test_what_this_process_alone_keeps_in_memory_is_not_warned_of() -> None:
    build_graph(ScriptedModel([]), tools=[], checkpointer=InMemorySaver())


def test_every_edge_that_depends_on_the_state_is_labelled_in_drawings() -> None:
    drawn = build_graph(ScriptedModel([]), tools=[], name="research").get_graph()

    labels = {(edge.source, edge.target): edge.data for edge in drawn.edges if edge.conditional}
    assert len(labels) == 11 and all(labels.values())
    assert labels["review", "executor"] == "approved"
    assert "approved" in drawn.draw_mermaid()


def test_a_graph_has_the_name_that_it_is_given() -> None:
    assert build_graph(ScriptedModel([]), tools=[], name="research").name == "research"
