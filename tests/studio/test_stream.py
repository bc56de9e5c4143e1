"""The `custom` stream of a run, as a client draws it."""

import threading
from collections.abc import Callable
from typing import Any

from planner_executor.graph.execution.progress import PROGRESS
from planner_executor.graph.testing import LoggedTools, on_thread, step
from planner_executor.tools.call_progress import CallProgress, progress_listener

Build = Callable[..., Any]


def streamed(graph: Any, goal: str = "g") -> list[dict[str, Any]]:
    return list(graph.stream({"goal": goal}, on_thread(), stream_mode="custom"))


def of_kind(events: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [event for event in events if event["kind"] == kind]


def test_a_step_starts_and_ends_with_its_number_on_record_its_preview_and_its_cost(build: Build) -> None:
    graph = build({"steps": [step("a", "search", query="q")]}, approval="never")

    begun, ended = streamed(graph)

    assert (begun["status"], begun["preview"], begun["cost"]["tool_calls"]) == ("running", None, 1)
    assert (ended["status"], ended["attempt"], ended["revision"]) == ("succeeded", 1, 1)
    assert ended["preview"].startswith("{") and ended["cost"]["tool_calls"] == 1
    assert 0 < begun["sequence"] < ended["sequence"]


def test_the_sequence_never_falls(build: Build) -> None:
    chain = [
        step("a", "search", query="q"),
        step("b", "search", query="r", after=["a"]),
        step("c", "search", query="s"),
    ]

    told = [event["sequence"] for event in streamed(build({"steps": chain}, approval="never"))]

    assert len(told) == 6 and told == sorted(told)


def test_a_step_that_is_tried_again_says_why_and_counts(build: Build, tools: LoggedTools) -> None:
    given = iter([1, 2])
    draw = tools.tool("draw", lambda: next(given), effect="read")
    plan = {"steps": [{**step("a", "draw"), "checks": [{"schema": {"minimum": 2}}]}]}

    told = streamed(build(plan, approval="never", tools=[draw], max_check_attempts=2))

    assert [(event["status"], event["attempt"]) for event in told] == [("running", 1), ("running", 2), ("succeeded", 2)]
    assert "2" in told[1]["error"] and told[2]["cost"]["tool_calls"] == 2


def test_the_end_of_each_item_is_told(build: Build, tools: LoggedTools) -> None:
    half = tools.tool("half", lambda n: 1 // (n % 2), effect="read")
    each = {**step("a", "half", n="{item_result}"), "for_each": [1, 2], "max_failures": 1}

    told = of_kind(streamed(build({"steps": [each]}, approval="never", tools=[half])), "item")

    assert sorted((event["item"], event["status"], bool(event["error"])) for event in told) == [
        (0, "succeeded", False),
        (1, "failed", True),
    ]


def test_that_a_person_will_be_needed_is_told_while_another_step_still_works(build: Build, tools: LoggedTools) -> None:
    asked = threading.Event()
    wait = tools.tool("wait", lambda: asked.wait(timeout=10), effect="read")
    quick = tools.tool("quick", lambda: 1, effect="read")
    gate = {"id": "b", "objective": "o", "gate": "Go on?", "depends_on": ["c"]}
    graph = build({"steps": [step("a", "wait"), step("c", "quick"), gate]}, approval="never", tools=[wait, quick])

    told = []
    for event in graph.stream({"goal": "g"}, on_thread(), stream_mode="custom"):
        told.append(event)
        if event["kind"] == "person":
            asked.set()

    (person,) = of_kind(told, "person")
    assert (person["step"], person["status"], person["error"]) == ("b", "pending", "waits for a person")
    assert told.index(person) < [(event["step"], event["status"]) for event in told].index(("a", "succeeded"))


def test_a_step_that_waits_for_the_planner_needs_no_person(build: Build) -> None:
    vague = {"steps": [{"id": "b", "objective": "o", "refine": True}]}
    graph = build(vague, {"steps": [step("b_1", "search", query="q")], "result": "{b_1_result}"}, approval="never")

    told = streamed(graph)

    assert told and not of_kind(told, "person")


STRANGER = "![x](http://evil.example/x.png)\u202e"


def test_what_a_tool_reports_is_text_in_the_stream_and_no_picture_in_the_line(build: Build, tools: LoggedTools) -> None:
    seen = threading.Event()

    def work() -> int:
        listener = progress_listener()
        assert listener is not None
        listener(CallProgress(1, 2, STRANGER))
        seen.wait(timeout=10)
        return 1

    graph = build({"steps": [step("a", "work")]}, approval="never", tools=[tools.tool("work", work, effect="read")])

    lines, reports = [], []
    for mode, event in graph.stream({"goal": "g"}, on_thread(), stream_mode=["custom", "messages"]):
        if mode == "custom" and event["kind"] == "progress":
            reports.append(event["progress"]["text"])
        if mode == "messages" and str(event[0].id).endswith(PROGRESS) and "1 of 2" in event[0].text:
            lines.append(event[0].text)
            seen.set()

    assert reports == ["1 of 2, ![x](http://evil.example/x.png)\\u{202e}"]
    assert r"Running: a (1 of 2, !\[x\](http" in lines[-1] and "\u202e" not in lines[-1]
