"""What chat surfaces see while the executor works."""

import threading
from collections.abc import Callable
from typing import Any

from planner_executor.graph.execution.progress import PROGRESS
from planner_executor.graph.testing import LoggedTools, on_thread, step

Build = Callable[..., Any]


def shown(part: Any) -> str:
    message, _ = part
    return str(message.text) if str(message.id).endswith(PROGRESS) and message.type == "ai" else ""


def test_steps_that_start_together_are_in_the_first_message(build: Build) -> None:
    plan = {"steps": [step(name, "search", query=name) for name in "abc"]}
    graph = build(plan, approval="never")

    told = list(map(shown, graph.stream({"goal": "g"}, on_thread(), stream_mode="messages")))

    assert next(filter(None, told)) == "0 of 3 steps done. Running: a, b, c."


def test_the_message_does_not_speak_of_the_step_before_while_a_long_one_works(build: Build, tools: LoggedTools) -> None:
    seen = threading.Event()
    wait = tools.tool("wait", lambda: seen.wait(timeout=10), effect="read")
    quick = tools.tool("quick", lambda: 1, effect="read")
    plan = {"steps": [step("a", "quick"), step("b", "wait", after=["a"])]}
    graph = build(plan, approval="never", tools=[quick, wait])

    told = []
    for part in graph.stream({"goal": "g"}, on_thread(), stream_mode="messages"):
        told.append(shown(part))
        if told[-1].endswith("Running: b."):
            seen.set()

    assert seen.is_set() and next(filter(None, told)) == "0 of 2 steps done. Running: a."
    assert graph.get_state(on_thread()).values["results"]["b"]["value"] is True


def test_progress_is_no_part_of_the_chat_once_the_run_has_ended(build: Build) -> None:
    state = build({"steps": [step("a", "search", query="q")]}, approval="never").invoke({"goal": "g"}, on_thread())

    assert not any(str(message.id).endswith(PROGRESS) for message in state["messages"])


def test_the_line_keeps_its_id_and_takes_the_place_of_the_one_before(build: Build, tools: LoggedTools) -> None:
    seen = threading.Event()
    wait = tools.tool("wait", lambda: seen.wait(timeout=10), effect="read")
    quick = tools.tool("quick", lambda: 1, effect="read")
    graph = build(
        {"steps": [step("a", "quick"), step("b", "wait", after=["a"])]}, approval="never", tools=[quick, wait]
    )

    parts = []
    for message, _ in graph.stream({"goal": "g"}, on_thread(), stream_mode="messages"):
        if str(message.id).endswith(PROGRESS):
            parts.append(message)
        if message.text.endswith("Running: b."):
            seen.set()

    assert [part.type for part in parts[:3]] == ["ai", "remove", "ai"] and len({part.id for part in parts}) == 1
    first, removed, second = parts[:3]
    assert first + removed is removed and removed + second is second and first + second is second
