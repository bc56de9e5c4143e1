"""The direct road: a goal that needs no plan, or one step that only reads; no ceremony, whichever way it comes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from planner_executor import Agent, build_graph
from planner_executor.graph.checkpoints.saver import strict_serializer
from planner_executor.graph.testing import LoggedTools, ScriptedModel, on_thread, step

ANSWER = {"steps": [], "answer": "Paris"}
ONE_READ = {"steps": [step("look", "search", query="capital")]}
Came = tuple[str, Any]
Way = Callable[[ScriptedModel, ScriptedModel, list[Any], Path], Came]


def by_graph(planner: ScriptedModel, replanner: ScriptedModel, tools: list[Any], _: Path) -> Came:
    return _invoked({"goal": "g"}, planner, replanner, tools)


def by_chat(planner: ScriptedModel, replanner: ScriptedModel, tools: list[Any], _: Path) -> Came:
    return _invoked({"messages": [{"role": "user", "content": "g"}]}, planner, replanner, tools)


def by_facade(planner: ScriptedModel, replanner: ScriptedModel, tools: list[Any], folder: Path) -> Came:
    models = {"planner": planner, "replanner": replanner}
    with Agent.open(folder / "runs.db", tools=tools, approval="side_effects", **models) as agent:
        run = agent.start("g")
        assert agent.replay(run.id).is_same
        return run.status, run.answer


def _invoked(given: Any, planner: ScriptedModel, replanner: ScriptedModel, tools: list[Any]) -> Came:
    saver = InMemorySaver(serde=strict_serializer())
    graph = build_graph(
        planner, tools=tools, replanner=replanner, executor=replanner, checkpointer=saver, approval="side_effects"
    )
    state = graph.invoke(given, on_thread())
    assert "__interrupt__" not in state
    return state["status"], state["answer"]


@pytest.mark.parametrize("way", [by_graph, by_chat, by_facade])
@pytest.mark.parametrize(("plan", "answer", "calls"), [(ANSWER, "Paris", 0), (ONE_READ, "CAPITAL", 1)], ids=["no", "1"])
def test_a_goal_of_no_step_or_one_that_reads_takes_one_model_call_and_nobody_is_asked(
    tools: LoggedTools, tmp_path: Path, way: Way, plan: Any, answer: str, calls: int
) -> None:
    search = tools.tool("search", lambda query: query.upper(), effect="read")
    planner, nobody = ScriptedModel([plan]), ScriptedModel([])

    came = way(planner, nobody, [search], tmp_path)

    assert came == ("succeeded", answer)
    assert (len(planner.prompts), len(nobody.prompts), len(tools.calls)) == (1, 0, calls)
