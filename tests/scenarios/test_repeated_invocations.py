"""A graph server executes an invocation again if the process that worked on it died: the same input is no new goal.

LangGraph knows such an invocation by its checkpoints; here they are lost, as with `durability="async"`.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from planner_executor import build_graph
from planner_executor.graph.checkpoints.saver import strict_serializer
from planner_executor.graph.testing import LoggedTools, ScriptedModel, step

PLAN = {"steps": [step("a", "look"), step("b", "send", after=["a"])], "answer": "{b_result}"}
GOAL = {"goal": "g", "plan": PLAN}
FAILING = {"goal": "g", "plan": {"steps": [step("a", "break")]}}
Invoke = Callable[..., dict[str, Any]]


def fail(**_: Any) -> Any:
    raise ValueError("broken")


@pytest.fixture
def invoke(tmp_path: Path, tools: LoggedTools) -> Invoke:
    """Return how a process invokes the graph that has the ledger and none of the checkpoints of those before it."""
    own = [tools.tool("look", effect="read"), tools.tool("send"), tools.tool("break", fail, effect="read")]

    def invoked(given: Any, run_id: Any = None) -> dict[str, Any]:
        saver = InMemorySaver(serde=strict_serializer())
        graph = build_graph(
            ScriptedModel([]),
            tools=own,
            checkpointer=saver,
            ledger=tmp_path / "runs.db",
            approval="never",
            replan="never",
        )
        config: Any = {"configurable": {"thread_id": "thread", **({"run_id": run_id} if run_id else {})}}
        return dict(graph.invoke(given, config))

    return invoked


@pytest.mark.parametrize("given", [GOAL, {"messages": [("user", "g")], "plan": PLAN}], ids=["goal", "chat"])
def test_a_repeated_invocation_has_no_second_effect(invoke: Invoke, tools: LoggedTools, given: Any) -> None:
    invoke(given, "r1")

    state = invoke(given, "r1")

    assert (state["run"]["n"], state["status"]) == (1, "succeeded")
    assert [name for name, _ in tools.calls] == ["look", "send"]


@pytest.mark.parametrize("second", ["r2", None, {"not": "an id"}])
def test_another_invocation_begins_another_run(invoke: Invoke, second: Any) -> None:
    invoke(GOAL, "r1")

    assert invoke(GOAL, second)["run"]["n"] == 2


def test_another_goal_within_an_invocation_begins_another_run(invoke: Invoke) -> None:
    invoke(GOAL, "r1")

    assert invoke({**GOAL, "goal": "another"}, "r1")["run"]["n"] == 2


@pytest.mark.parametrize(
    "given", [{"operation": "retry"}, {"messages": [("user", "retry")]}], ids=["operation", "chat"]
)
def test_a_repeated_retry_retries_once(invoke: Invoke, tools: LoggedTools, given: Any) -> None:
    invoke(FAILING, "r1")
    invoke(given, "r2")
    called = len(tools.calls)

    state = invoke(given, "r2")

    assert (state["run"]["n"], state["status"], len(tools.calls)) == (1, "failed", called)
