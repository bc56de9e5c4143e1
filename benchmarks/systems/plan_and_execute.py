"""Plan-and-execute in the manner of LangGraph's archived tutorial, in our own words.

A planner lists steps in words; an agent with tools does the first of them, in a superstep; a replanner is told what was
planned and done, and answers with the steps that are left or with the response; and so on.
"""

import json
import re
from collections.abc import Sequence
from operator import add
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import BaseTool
from langgraph.graph import END, START, StateGraph

from benchmarks.database import Database
from benchmarks.simulated import Script, SimulatedModel
from benchmarks.systems.react import build as react_agent
from benchmarks.systems.react import tool_call
from benchmarks.workloads import Workload

PLANNER = 'Give a step by step plan for the goal as a JSON object: {"steps": ["..."]}.'
REPLANNER = 'Given the goal, the plan and what was done, answer {"steps": [what is left]} or {"response": "..."}.'


class State(TypedDict, total=False):
    """As in the tutorial: the steps that are left, those that were done with their results, and the response."""

    goal: str
    plan: list[str]
    past_steps: Annotated[list[tuple[str, str]], add]
    response: str


def build(model: SimulatedModel, tools: list[BaseTool], database: Database) -> Any:
    """Return the graph."""
    agent = react_agent(model, tools, None)

    async def planner(state: State) -> State:
        answer = await model.ainvoke([SystemMessage(PLANNER), HumanMessage(state["goal"])])
        return {"plan": json.loads(str(answer.text))["steps"]}

    async def execute(state: State) -> State:
        listed = "\n".join(f"{number}. {step}" for number, step in enumerate(state["plan"], 1))
        task = state["plan"][0]
        words = f"This is the plan:\n{listed}\n\nYou are to do step 1: {task}"
        done = await agent.ainvoke({"messages": [HumanMessage(words)]})
        return {"past_steps": [(task, str(done["messages"][-1].text))]}

    async def replanner(state: State) -> State:
        told = {"goal": state["goal"], "plan": state["plan"], "done": state["past_steps"]}
        answer = await model.ainvoke([SystemMessage(REPLANNER), HumanMessage(json.dumps(told))])
        said = json.loads(str(answer.text))
        return {"response": said["response"]} if "response" in said else {"plan": said["steps"]}

    def over(state: State) -> str:
        return END if state.get("response") else "execute"

    graph = StateGraph(State)
    for node in (planner, execute, replanner):
        graph.add_node(node.__name__, node)
    graph.add_edge(START, "planner")
    graph.add_edge("planner", "execute")
    graph.add_edge("execute", "replanner")
    graph.add_conditional_edges("replanner", over, ["execute", END])
    return graph.compile(checkpointer=database.saver)


def script(workload: Workload) -> Script:
    """Play all three roles, told apart by what they are told."""
    words = [f"look at {piece.id}" for piece in workload.pieces]

    def answer(messages: Sequence[BaseMessage]) -> AIMessage:
        first = messages[0].text
        if first == PLANNER:
            return AIMessage(json.dumps({"steps": words}))
        if first == REPLANNER:
            left = words[len(json.loads(messages[1].text)["done"]) :]
            return AIMessage(json.dumps({"steps": left} if left else {"response": "all steps are done"}))
        return _of_agent(messages)

    def _of_agent(messages: Sequence[BaseMessage]) -> AIMessage:
        last = messages[-1]
        if isinstance(last, ToolMessage) and last.status == "success":
            return AIMessage(str(last.text))
        named = re.search(r"You are to do step 1: look at (\w+)", str(messages[0].text))
        assert named is not None
        call = tool_call(workload, named[1], again=isinstance(last, ToolMessage))
        return AIMessage("", tool_calls=[call])

    return answer
