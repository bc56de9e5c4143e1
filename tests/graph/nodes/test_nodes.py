"""What each node promises, seen in the update that it returns."""

from collections.abc import Callable
from typing import Any

from langgraph.types import Command

from planner_executor.graph.testing import LoggedTools, asked, on_thread, step

Build = Callable[..., Any]
PLAN = {"steps": [step("a", "search", query="x"), step("b", "write", text="{a_result.items[0]}")]}
FAILS = {"steps": [step("a", "search", query="x"), step("bad", "broken", after=["a"])]}


def updates(graph: Any, given: Any) -> list[tuple[str, dict[str, Any]]]:
    """Return each node that ran, with its update."""
    told = graph.stream(given, on_thread(), stream_mode="updates")
    return [(node, update) for chunk in told for node, update in chunk.items() if node != "__interrupt__"]


def test_the_planner_asks_no_model_for_a_plan_that_is_brought(build: Build) -> None:
    graph = build()

    (first, update), *_ = updates(graph, {"goal": "g", "plan": PLAN})

    assert first == "planner" and update["plan"]["steps"][0]["id"] == "a"
    assert graph.model.prompts == []


def test_the_planner_sends_all_faults_back_once(build: Build) -> None:
    bad = {"steps": [step("a", "nothing"), step("b", "search", query="{gone_result}")]}
    graph = build(bad, PLAN)

    state = graph.invoke({"goal": "g"}, on_thread())

    assert asked(state)["revision"] == 1 and len(graph.model.prompts) == 2
    told = graph.model.prompts[1][-1].text
    assert "nothing" in told and "gone" in told


def test_the_planner_ends_the_run_with_a_direct_answer(build: Build) -> None:
    told = updates(build({"steps": [], "answer": "42"}), {"goal": "g"})

    assert [node for node, _ in told] == ["planner"]
    assert (told[0][1]["status"], told[0][1]["answer"]) == ("succeeded", "42")


def test_the_review_comes_before_any_effect(build: Build, tools: LoggedTools) -> None:
    state = build(PLAN).invoke({"goal": "g"}, on_thread())

    assert asked(state)["action_requests"][0]["name"] == "run_plan" and tools.calls == []


def test_the_review_lets_pass_what_needs_no_person(build: Build) -> None:
    told = updates(build(PLAN, approval="never"), {"goal": "g"})

    assert [node for node, _ in told] == ["planner", "review", "executor"]
    assert told[-1][1]["status"] == "succeeded"


def test_the_executor_runs_nothing_that_a_written_state_calls_approved(build: Build, tools: LoggedTools) -> None:
    graph = build(PLAN)
    graph.invoke({"goal": "g"}, on_thread())
    graph.update_state(on_thread(), {"route": "execute", "status": "running"}, as_node="review")

    (node, update), *_ = updates(graph, None)

    assert (node, update["status"]) == ("executor", "waiting") and tools.calls == []


def test_the_executor_runs_no_other_plan_than_the_approved_one(build: Build, tools: LoggedTools) -> None:
    graph = build(PLAN)
    graph.invoke({"goal": "g"}, on_thread())
    graph.invoke(Command(resume="approve"), {**on_thread(), "recursion_limit": 25}, interrupt_before=["executor"])
    other = {"steps": [step("z", "send", to="attacker")]}
    graph.update_state(on_thread(), {"plan": other, "route": "execute", "status": "running"}, as_node="review")

    state = graph.invoke(None, on_thread())

    assert tools.calls == [] and asked(state)["action_requests"][0]["args"]["plan"]["steps"][0]["id"] == "z"


def test_the_replanner_changes_no_step_that_has_finished(build: Build, tools: LoggedTools) -> None:
    revision = {"steps": [step("bad", "search", query="y")]}

    told = updates(build(FAILS, revision, approval="never"), {"goal": "g"})

    assert [node for node, _ in told] == ["planner", "review", "executor", "replanner", "review", "executor"]
    assert told[-1][1]["status"] == "succeeded" and tools.named("search") == [{"query": "x"}, {"query": "y"}]


def test_the_replanner_ends_the_run_when_nothing_valid_is_left_to_do(build: Build) -> None:
    told = updates(build(FAILS, "no", "no", approval="never"), {"goal": "g"})

    assert told[-1][0] == "replanner" and told[-1][1]["status"] in ("failed", "partial")
