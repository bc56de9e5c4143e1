"""Waves: plan once, send all steps that are ready to a superstep of their own, join, and so on."""

import json
from collections.abc import Sequence
from operator import or_
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.tools import BaseTool
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send

from benchmarks.database import Database
from benchmarks.simulated import Script, SimulatedModel
from benchmarks.workloads import Workload

PLANNER = "Plan how to reach the goal: a JSON list of steps with id, tool, args and after."
REPLANNER = "Some steps failed. Answer with a JSON list of the steps that replace them, with the same ids."


class State(TypedDict, total=False):
    """The plan, step id -> result, and step id -> error; an error goes with the step that replaces it."""

    goal: str
    plan: dict[str, dict[str, Any]]
    results: Annotated[dict[str, Any], or_]
    errors: Annotated[dict[str, Any], or_]


def build(model: SimulatedModel, tools: list[BaseTool], database: Database) -> Any:
    """Return the graph."""
    by_name = {tool.name: tool for tool in tools}

    async def planner(state: State) -> State:
        answer = await model.ainvoke([SystemMessage(PLANNER), HumanMessage(state["goal"])])
        return {"plan": {step["id"]: step for step in json.loads(str(answer.text))}, "results": {}, "errors": {}}

    async def replanner(state: State) -> State:
        failed = {step: error for step, error in state["errors"].items() if error}
        answer = await model.ainvoke([SystemMessage(REPLANNER), HumanMessage(json.dumps(failed))])
        instead = {step["id"]: step for step in json.loads(str(answer.text))}
        return {"plan": state["plan"] | instead, "errors": dict.fromkeys(failed)}

    async def step(one: dict[str, Any]) -> State:
        try:
            result = await by_name[one["tool"]].ainvoke(one["args"])
        except Exception as error:  # noqa: BLE001  (whatever the tool raises, the replanner is told)
            return {"errors": {one["id"]: str(error)}}
        return {"results": {one["id"]: result}}

    def join(_state: State) -> State:
        return {}

    def next_wave(state: State) -> list[Send] | str:
        if any(state["errors"].values()):
            return "replanner"
        done = state["results"]
        ready = [one for one in state["plan"].values() if one["id"] not in done and done.keys() >= set(one["after"])]
        return [Send("step", one) for one in ready] or END

    graph: Any = StateGraph(State)
    graph.add_node("planner", planner)
    graph.add_node("replanner", replanner)
    graph.add_node("join", join)
    graph.add_node("step", step)
    graph.add_edge(START, "planner")
    graph.add_edge("step", "join")
    for node in ("planner", "replanner", "join"):
        graph.add_conditional_edges(node, next_wave, ["step", "replanner", END])
    return graph.compile(checkpointer=database.saver)


def script(workload: Workload) -> Script:
    """Answer with the plan, and then with what replaces the steps that failed."""

    def step(name: str, tool: str) -> dict[str, Any]:
        return {"id": name, "tool": tool, "args": workload.args(name), "after": workload.waits[name]}

    plan = [step(piece.id, workload.tool) for piece in workload.pieces]
    answers = iter([plan, [step(name, "look_elsewhere") for name in workload.failing]])

    def answer(_messages: Sequence[BaseMessage]) -> AIMessage:
        return AIMessage(json.dumps(next(answers)))

    return answer
