"""What a client nests too deeply is refused in words; tools that declare nothing bring a warning; large reviews end."""

import logging
import time
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.types import Command

from planner_executor import build_graph
from planner_executor.graph.calls.toolbox import Toolbox
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.policy.approval_scope import ExecutionTerms
from planner_executor.graph.review.plan_review import PlanReview
from planner_executor.graph.testing import ScriptedModel
from planner_executor.graph.text.review.content import plan_content
from planner_executor.graph.text.review.plan import plan_description

CONFIG: Any = {"configurable": {"thread_id": "t"}}


def nested(levels: int) -> Any:
    value: Any = "leaf"
    for _ in range(levels):
        value = [value]
    return value


def plan_of(value: Any) -> dict[str, Any]:
    return {"steps": [{"id": "a", "objective": "o", "args": {"x": value}}]}


def graph() -> Any:
    return build_graph(tools=[], checkpointer=InMemorySaver(serde=JsonPlusSerializer(allowed_msgpack_modules=None)))


@pytest.mark.parametrize("levels", [150, 900, 3_000, 100_000])
def test_a_plan_that_is_nested_too_deeply_is_refused_in_words(levels: int) -> None:
    begun = time.process_time()

    state = graph().invoke({"goal": "g", "plan": plan_of(nested(levels))}, CONFIG)

    assert state["status"] == "failed"
    assert "nested deeper than 100" in state["reason"]
    assert time.process_time() - begun < 5


def test_so_is_one_that_comes_as_text() -> None:
    text = '{"steps": [{"id": "a", "objective": "o", "args": {"x": ' + "[" * 3_000 + "]" * 3_000 + "}}]}"

    assert "nested deeper than 100" in graph().invoke({"goal": "g", "plan": text}, CONFIG)["reason"]


@pytest.mark.parametrize("as_text", [False, True])
def test_an_edit_that_is_nested_too_deeply_is_asked_for_again(as_text: bool) -> None:
    one = graph()
    one.invoke({"goal": "g", "plan": plan_of("x")}, CONFIG)
    plan: Any = plan_of(nested(3_000))
    if as_text:
        plan = '{"steps": [{"id": "a", "objective": "o", "args": {"x": ' + "[" * 3_000 + "]" * 3_000 + "}}]}"
    edit = {"type": "edit", "edited_action": {"name": "run_plan", "args": {"plan": plan}}}

    state = one.invoke(Command(resume={"decisions": [edit]}), CONFIG)

    (asked,) = state["__interrupt__"]
    assert "nested deeper than 100" in str(asked.value)


def test_a_state_that_is_nested_too_deeply_leaves_the_review_open() -> None:
    one = graph()
    one.invoke({"goal": "g", "plan": plan_of("x")}, CONFIG)

    one.update_state(CONFIG, {"plan": plan_of(nested(3_000))})
    state = one.invoke(None, CONFIG)

    assert state["__interrupt__"]


def look_up(key: str) -> str:
    """Look something up."""
    return key


def test_a_tool_that_declares_nothing_and_is_granted_to_a_model_brings_a_warning_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    plan = {"steps": [{"id": name, "objective": "o", "tools": ["look_up"]} for name in ("a", "b")]}
    model = ScriptedModel([AIMessage("done"), AIMessage("done")])
    one = build_graph(executor=model, tools=[look_up], approval="never")

    with caplog.at_level(logging.WARNING, "planner_executor.tools"):
        assert one.invoke({"goal": "g", "plan": plan}, CONFIG)["status"] == "succeeded"

    (said,) = [record.getMessage() for record in caplog.records if record.name == "planner_executor.tools"]
    assert said.startswith("tool look_up: a model may call it")


def described(plan: Plan, terms: ExecutionTerms) -> str:
    return plan_description(plan_content(PlanReview(plan, 1, terms)), plan)


def test_the_review_says_so_too_and_not_of_a_call_with_arguments_that_were_shown() -> None:
    terms = ExecutionTerms(Toolbox([look_up]).specs)
    granted = Plan(
        steps=(Step(id="a", objective="o", tools=("look_up",)), Step(id="b", objective="o", tools=("look_up",)))
    )
    called = Plan(steps=(Step(id="a", objective="o", tool="look_up", args={"key": "x"}),))

    words = described(granted, terms)

    assert words.count("Warning: look_up in a, b: a model may call it") == 1
    assert "Warning" not in described(called, terms)


def test_a_review_of_very_many_calls_that_feed_each_other_is_written_in_time() -> None:
    terms = ExecutionTerms(Toolbox([look_up]).specs)
    steps = [Step(id="s0", objective="o", tool="look_up", args={"key": "x"})]
    steps += [
        Step(id=f"s{n}", objective="o", tool="look_up", args={"key": f"{{s{n - 1}_result}}"}) for n in range(1, 2_000)
    ]
    begun = time.process_time()

    words = described(Plan(steps=tuple(steps)), terms)

    assert words.count("uses what look_up returns") == 1_999
    assert time.process_time() - begun < 10
