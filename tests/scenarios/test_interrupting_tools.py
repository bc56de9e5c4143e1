"""A tool that calls LangGraph's interrupt() fails its step in words; an answer to a review never reaches it."""

from typing import Any

import pytest
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

from planner_executor import build_graph
from planner_executor.graph.testing import ScriptedModel, asked, on_thread, step


@tool
def pay(to: str) -> str:
    """Pay somebody."""
    return f"paid {to}: {interrupt('sure?')}"


@tool
async def pay_later(to: str) -> str:
    """Pay somebody, awaited."""
    return f"paid {to}: {interrupt('sure?')}"


@pytest.mark.parametrize("given", [pay, pay_later], ids=lambda given: given.name)
@pytest.mark.parametrize(("effect", "asks"), [("read", "run_plan"), ("external", "settle_effect")])
def test_it_is_told_what_to_do_instead(saver: InMemorySaver, given: Any, effect: str, asks: str) -> None:
    paying = given.model_copy(update={"metadata": {"effect": effect}})
    plan = {"steps": [step("a", given.name, to="ann")]}
    graph = build_graph(planner=ScriptedModel([plan] * 3), tools=[paying], checkpointer=saver)
    graph.invoke({"goal": "g"}, on_thread())

    request = asked(graph.invoke(Command(resume="approve"), on_thread()))

    (action,) = request["action_requests"]
    assert action["name"] == asks and "Interrupt(" not in action["description"]
    assert f"{given.name} calls LangGraph's interrupt(), which tools cannot do here" in action["description"]
