"""The plan as a to-do list in the state, which other clients draw."""

from collections.abc import Callable
from typing import Any

from langgraph.types import Command

from planner_executor.graph.testing import on_thread, step

Build = Callable[..., Any]
PLAN = {"steps": [step("a", "search", query="wind"), step("b", "write", text="{a_result.items[0]}")]}


def statuses(graph: Any) -> list[str]:
    return [todo["status"] for todo in graph.get_state(on_thread()).values["todos"]]


def test_a_plan_that_waits_is_all_to_do_and_one_that_has_run_is_done(build: Build) -> None:
    graph = build(PLAN)

    graph.invoke({"goal": "g"}, on_thread())
    waiting = statuses(graph)
    graph.invoke(Command(resume="approve"), on_thread())

    assert (waiting, statuses(graph)) == (["pending", "pending"], ["completed", "completed"])


def test_while_the_executor_works_the_steps_that_could_start_are_in_progress(build: Build) -> None:
    seen = []
    for values in build(PLAN, approval="never").stream({"goal": "g"}, on_thread(), stream_mode="values"):
        if values.get("status") == "running":
            seen.append([todo["status"] for todo in values["todos"]])

    assert seen == [["in_progress", "pending"]]


def test_a_list_that_a_client_writes_is_not_read_and_gone_at_the_next_node(build: Build) -> None:
    graph = build(PLAN)
    graph.invoke({"goal": "g", "todos": [{"content": "done by stranger", "status": "completed"}]}, on_thread())
    graph.update_state(on_thread(), {"todos": [{"content": "all done", "status": "completed"}]})

    graph.invoke(Command(resume="approve"), on_thread())

    assert [todo["content"] for todo in graph.get_state(on_thread()).values["todos"]] == ["a: do a", "b: do b"]


def test_a_goal_without_a_plan_has_nothing_to_do(build: Build) -> None:
    graph = build(PLAN, {"steps": [], "answer": "hello"})
    graph.invoke({"goal": "g"}, on_thread())

    state = graph.invoke({"goal": "say hello"}, on_thread())

    assert state["todos"] == []
