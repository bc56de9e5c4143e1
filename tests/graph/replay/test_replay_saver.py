"""Checkpoints that the recorded process did not live to store."""

from collections.abc import Callable
from typing import Any, TypedDict

from langgraph.graph import END, START, StateGraph

from planner_executor.graph.replay.replay_saver import ReplaySaver
from planner_executor.graph.testing import on_thread


class Count(TypedDict):
    n: int


def test_a_node_runs_again_at_its_own_checkpoint_once_what_followed_is_forgotten() -> None:
    ran: list[str] = []

    def node(name: str) -> Callable[[Count], Count]:
        def run(state: Count) -> Count:
            ran.append(name)
            return {"n": state["n"] + 1}

        return run

    saver = ReplaySaver("thread")
    graph: Any = StateGraph(Count)
    for name, before in (("a", START), ("b", "a"), ("c", "b")):
        graph.add_node(name, node(name))
        graph.add_edge(before, name)
    graph = graph.add_edge("c", END).compile(checkpointer=saver)
    graph.invoke({"n": 0}, on_thread())
    (before_b,) = (state for state in graph.get_state_history(on_thread()) if state.next == ("b",))
    checkpoint = before_b.config["configurable"]["checkpoint_id"]

    saver.go_back(checkpoint)

    assert saver.latest == checkpoint
    assert graph.invoke(None, on_thread()) == {"n": 3}
    assert ran == ["a", "b", "c", "b", "c"]
