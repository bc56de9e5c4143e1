from collections.abc import Sequence
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from planner_executor import build_graph
from planner_executor.graph.errors import InputError
from planner_executor.graph.record.run_status import ENDS
from planner_executor.graph.testing import LoggedTools, ScriptedModel, on_thread, step

CONTINUE = [{"operation": "continue"}, {"messages": [{"role": "user", "content": "continue"}]}]
GOAL = {"goal": "g", "plan": {"steps": [step("one", "mail")]}}


class FullDisk(InMemorySaver):
    """Keeps no end of a run while it is full, as if the process had died between the ledger's and the checkpoint."""

    is_full = True

    def put_writes(self, config: Any, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = "") -> None:
        if self.is_full and any(channel == "status" and value in ENDS for channel, value in writes):
            raise OSError(28, "No space left on device")
        super().put_writes(config, writes, task_id, task_path)

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        if self.is_full and checkpoint["channel_values"].get("status") in ENDS:
            raise OSError(28, "No space left on device")
        return super().put(config, checkpoint, metadata, new_versions)


def ended_unsaid(given: dict[str, Any], tools: LoggedTools, answers: Sequence[Any] = ()) -> Any:
    """Return a graph with a run that has ended in the ledger, of which its thread does not know."""
    saver = FullDisk()
    made = [tools.tool("mail"), tools.tool("fail", lambda: 1 / 0)]
    graph = build_graph(ScriptedModel(answers), tools=made, checkpointer=saver, replan="never")
    with pytest.raises(OSError, match="No space"):
        graph.invoke(given, on_thread(), durability="sync")
        graph.invoke(Command(resume="approve"), on_thread(), durability="sync")
    saver.is_full = False
    assert graph.get_state(on_thread()).values.get("status") not in ENDS
    return graph


@pytest.mark.parametrize("given", CONTINUE)
def test_continue_tells_an_end_that_the_thread_does_not_know_yet(given: dict[str, Any]) -> None:
    tools = LoggedTools()
    graph = ended_unsaid(GOAL, tools)

    state = graph.invoke(given, on_thread())

    assert (state["run"]["id"], state["status"], state["answer"]) == ("thread.1", "succeeded", {})
    assert state["messages"][-1].id.startswith("thread.1")
    assert len(tools.named("mail")) == 1


@pytest.mark.parametrize("given", CONTINUE)
def test_continue_tells_an_end_that_can_be_retried_before_it_names_the_retry(given: dict[str, Any]) -> None:
    graph = ended_unsaid({"goal": "g", "plan": {"steps": [step("one", "fail")]}}, LoggedTools())

    state = graph.invoke(given, on_thread())

    assert (state["run"]["id"], state["status"]) == ("thread.1", "failed")
    assert "one failed" in state["messages"][-1].text


def test_continue_refuses_an_end_that_the_thread_tells() -> None:
    graph = ended_unsaid(GOAL, LoggedTools())
    graph.invoke(CONTINUE[0], on_thread())

    with pytest.raises(InputError, match=r"thread\.1 has ended as succeeded; start a new run"):
        graph.invoke(CONTINUE[0], on_thread())


def test_continue_as_a_goal_after_an_end_that_the_thread_tells_begins_a_run() -> None:
    graph = ended_unsaid(GOAL, LoggedTools(), answers=[{"steps": [], "answer": "what?"}])
    graph.invoke(CONTINUE[0], on_thread())

    state = graph.invoke(CONTINUE[1], on_thread())

    assert (state["run"]["id"], state["answer"]) == ("thread.2", "what?")
