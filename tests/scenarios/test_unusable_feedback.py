"""Feedback and constraints that a planner cannot use: the plan that waits stays, with the reason, and no run ends."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langgraph.types import Command

from planner_executor import Agent, default_tools
from planner_executor.graph.testing import LoggedTools, ScriptedModel, asked, on_thread, step

Build = Callable[..., Any]

PLAN = {"steps": [step("a", "search", query="wind"), step("b", "write", text="{a_result.items[0]}")]}
OTHER = {"steps": [step("x", "write", text="other")]}
BROKEN = {"steps": [step("x", "nothing_like_it")]}
NOT_A_PLAN = "I would rather not."


def document(graph: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(str(graph.model.prompts[-1][1].text))
    return found


@pytest.mark.parametrize("useless", [NOT_A_PLAN, json.dumps(BROKEN)])
def test_feedback_without_a_plan_asks_about_the_waiting_plan_again_with_the_reason(
    build: Build, tools: LoggedTools, useless: str
) -> None:
    graph = build(PLAN, useless, useless)
    first = asked(graph.invoke({"goal": "g"}, on_thread()))

    again = asked(graph.invoke(Command(resume="in rhyme"), on_thread()))

    assert again["action_requests"][0]["args"] == {"plan": PLAN} and again["digest"] == first["digest"]
    assert again["revision"] == 1 and again["run"] == first["run"] and again["issues"]
    assert "the plan stays as it was: the planner gave no" in again["error"]
    assert again["error"] in again["action_requests"][0]["description"] and tools.calls == []
    assert graph.invoke(Command(resume="approve"), on_thread())["answer"] == 4


def test_feedback_that_was_refused_is_not_given_to_the_planner_with_the_next(build: Build) -> None:
    graph = build(PLAN, NOT_A_PLAN, NOT_A_PLAN, OTHER)
    graph.invoke({"goal": "g"}, on_thread())
    graph.invoke(Command(resume="in rhyme"), on_thread())

    request = asked(graph.invoke(Command(resume="write only"), on_thread()))

    assert document(graph)["feedback"] == ["write only"]
    assert request["action_requests"][0]["args"] == {"plan": OTHER} and request["error"] is None
    assert request["issues"] == []


def test_useless_feedback_is_bounded_too(build: Build) -> None:
    graph = build(PLAN, NOT_A_PLAN, NOT_A_PLAN, max_feedback=1)
    graph.invoke({"goal": "g"}, on_thread())
    graph.invoke(Command(resume="in rhyme"), on_thread())

    state = graph.invoke(Command(resume="in rhyme"), on_thread())

    assert state["status"] == "rejected" and "no agreement after 1 rounds" in state["reason"]


def test_an_approval_given_in_advance_is_none_of_a_plan_that_leaves_out_a_wish(
    tmp_path: Path, tools: LoggedTools
) -> None:
    look = tools.tool("look", lambda name: name, effect="read")
    plan = {"steps": [step("a", "look", name="x")]}
    with Agent.open(tmp_path / "runs.db", planner=ScriptedModel([plan, NOT_A_PLAN, NOT_A_PLAN]), tools=[look]) as agent:
        run = agent.start("g")

        steered = agent.steer(run.id, add=["be quick"])
        unseen = agent.resume(run.id, "approve", unseen=True)

        assert steered.request is not None and "the plan stays as it was" in steered.request["error"]
        assert unseen.request is not None and "a person has to review it" in unseen.request["error"]
        assert agent.show(run.id).constraints == ("be quick",) and tools.calls == []
        assert agent.resume(run.id, "approve").status == "succeeded"


def test_a_constraint_that_the_rules_cannot_keep_to_leaves_the_waiting_plan_until_it_is_withdrawn(
    tmp_path: Path,
) -> None:
    with Agent.open(tmp_path / "runs.db") as agent:
        run = agent.start("What is 12 * 4 + 5?")
        assert run.request is not None

        steered = agent.steer(run.id, add=["in Roman numerals"])

        assert steered.status == "waiting" and steered.request is not None
        assert "cannot keep to this constraint: in Roman numerals" in steered.request["error"]
        withdrawn = agent.steer(run.id, withdraw=["in Roman numerals"])
        assert withdrawn.request is not None and withdrawn.request["error"] is None
        assert agent.resume(run.id, "approve").answer == 53


def test_after_a_question_was_answered_with_useless_feedback_the_plan_is_asked_about_too(
    build: Build, tools: LoggedTools
) -> None:
    ask = {"id": "q", "objective": "Know", "ask": "Which?", "depends_on": ["a"]}
    steps = [step("a", "search", query="wind"), ask, step("b", "write", text="{q_result}")]
    graph = build({"steps": steps}, NOT_A_PLAN, NOT_A_PLAN)
    graph.invoke({"goal": "g"}, on_thread())
    graph.invoke(Command(resume="approve"), on_thread())

    again = asked(graph.invoke(Command(resume={"type": "reject", "message": "ask nothing"}), on_thread()))

    assert [action["name"] for action in again["action_requests"]] == ["run_plan", "answer_question"]
    assert "the plan stays as it was" in again["error"] and len(tools.calls) == 1


def test_the_embedded_rules_give_their_reason_without_another_before_it(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    tools = default_tools(documents=tmp_path / "docs", workspace=tmp_path / "out")
    with Agent.open(tmp_path / "runs.db", tools=tools) as agent:
        run = agent.start("Research wind and write a brief report")
        stopped = agent.resume(run.id, "approve")
        useless = agent.start("Hello there").reason or ""

    assert stopped.request is not None
    (action,) = stopped.request["action_requests"]
    assert "The offline rules have no other way to go on: documents folder" in action["description"]
    assert "No progress" not in action["description"] and "JSON object" not in action["description"]
    assert useless.startswith("This is the offline model") and "JSON object" not in useless
