"""The two systems of which many runs are executed: our graph, and a bare LangGraph graph of the same shape."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import END, START, StateGraph

from benchmarks.database import Database
from benchmarks.meter import Meter
from benchmarks.simulated import SimulatedModel, simulated_tools
from benchmarks.workloads import chain
from planner_executor import build_graph
from planner_executor.graph.state import State

WORKLOAD = chain(5, 0.02)

Build = Callable[[Database], Any]


def ours(database: Database, plan: Any = None) -> Any:
    """Return our graph, without approvals."""
    tools = simulated_tools(Meter())
    return build_graph(_model(plan), tools=tools, checkpointer=database.saver, ledger=database.ledger, approval="never")


def bare(database: Database) -> Any:
    """Return a graph of the same shape that does nothing but the work."""
    model, tools = _model(), {tool.name: tool for tool in simulated_tools(Meter())}

    async def planner(state: State) -> dict[str, Any]:
        answer = await model.ainvoke([HumanMessage(json.dumps({"goal": state["goal"]}))])
        return {"plan": json.loads(str(answer.text)), "status": "running", "reason": None}

    async def executor(state: State) -> dict[str, Any]:
        results: dict[str, Any] = {}
        for step in state["plan"]["steps"]:
            value = await tools[step["tool"]].ainvoke({**step["args"], "given": list(results)[-1:]})
            results[step["id"]] = {"status": "succeeded", "value": value}
        return {"results": results, "status": "succeeded", "answer": value, "messages": [AIMessage(json.dumps(value))]}

    graph = StateGraph(State)
    graph.add_node("planner", planner)
    graph.add_node("executor", executor)
    graph.add_edge(START, "planner")
    graph.add_edge("planner", "executor")
    graph.add_edge("executor", END)
    return graph.compile(checkpointer=database.saver)


SYSTEMS: Mapping[str, Build] = {"ours": ours, "bare": bare}


def _model(plan: Any = None) -> SimulatedModel:
    text = json.dumps(plan or WORKLOAD.plan())
    return SimulatedModel(lambda _messages: AIMessage(text), Meter())
