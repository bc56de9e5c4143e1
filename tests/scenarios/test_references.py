"""References in whole runs: other spellings are mended before anybody is asked, text stays text, work is bounded."""

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from langgraph.types import Command

from planner_executor import build_graph
from planner_executor.graph.testing import LoggedTools, ScriptedModel, asked, on_thread, step

Start = Callable[..., Any]
FOUND = {
    "url": "https://example.com",
    "price": 12.5,
    "note": "{get_result} {{get_result}} {get.url} $get.url <get_result>",
}


@pytest.fixture
def start(saver: Any, tools: LoggedTools) -> Start:
    """Return a graph over two tools; `start(*plans)` is answered with these plans, one after the other."""
    own = [
        tools.tool("get", lambda **_: FOUND, effect="read", trusted=True),
        tools.tool("use", lambda **args: args, effect="read"),
    ]

    def start(*plans: Any, **options: Any) -> Any:
        texts = [plan if isinstance(plan, str) else json.dumps(plan) for plan in plans]
        return build_graph(ScriptedModel(texts), ScriptedModel([]), tools=own, checkpointer=saver, **options)

    return start


def plan(text: Any, answer: Any = None, **fields: Any) -> dict[str, Any]:
    made = {"steps": [step("get", "get"), {**step("use", "use", text=text), **fields}]}
    return made if answer is None else {**made, "answer": answer}


def approved(graph: Any) -> dict[str, Any]:
    request = asked(graph.invoke({"goal": "g"}, on_thread()))
    state: dict[str, Any] = graph.invoke(Command(resume={"type": "approve", "digest": request["digest"]}), on_thread())
    return state


def test_another_spelling_goes_back_to_the_planner_once_and_reaches_no_tool(start: Start, tools: LoggedTools) -> None:
    state = approved(start(plan("read {{ get.url }}", "{get.url}"), plan("read {get_result.url}", "{get_result.url}")))

    assert (state["status"], state["answer"]) == ("succeeded", FOUND["url"])
    assert tools.named("use") == [{"text": f"read {FOUND['url']}"}]


def test_a_planner_that_goes_on_so_ends_the_run_before_anybody_is_asked(start: Start, tools: LoggedTools) -> None:
    state = start(*[plan("read $get.url")] * 2).invoke({"goal": "g"}, on_thread())

    assert (state["status"], tools.calls) == ("failed", [])
    assert [issue["field"] for issue in state["issues"]] == ["args.text"]
    assert "{get_result.url}" in state["issues"][0]["message"]


def test_a_plan_that_is_brought_is_held_to_the_same(start: Start, tools: LoggedTools) -> None:
    state = start().invoke({"goal": "g", "plan": plan("read <get_result>")}, on_thread())

    assert (state["status"], tools.calls) == ("failed", [])
    assert "{get_result}" in state["issues"][0]["message"]


def test_an_edited_plan_is_asked_again_with_the_right_spelling(start: Start, tools: LoggedTools) -> None:
    graph = start(plan("x"))
    graph.invoke({"goal": "g"}, on_thread())

    again = asked(graph.invoke(Command(resume=plan("read #E1 and {get.url}")), on_thread()))

    assert tools.calls == []
    assert "{get_result.url}" in json.dumps(again["issues"]) + str(again["error"])


def test_text_and_dollars_reach_the_tool_as_the_review_says(start: Start, tools: LoggedTools) -> None:
    text = ["{{get_result}}", "$${get_result.price}"]
    code = "print(f'{get}') # {get_result} $get.url"
    steps = [step("get", "get"), {**step("use", "use", text=text, code=code), "literal": ["code"]}]
    graph = start({"steps": steps})

    request = asked(graph.invoke({"goal": "g"}, on_thread()))
    graph.invoke(Command(resume="approve"), on_thread())

    words = request["action_requests"][0]["description"]
    words = " ".join(words.split())
    assert "- use: {get_result} in text is text, not a reference" in words
    assert "- use: code is taken as it is written, nothing in it is a reference" in words
    assert tools.named("use") == [{"text": ["{get_result}", "$12.5"], "code": code}]


def test_results_that_come_in_by_reference_are_never_looked_at(start: Start, tools: LoggedTools) -> None:
    state = approved(start(plan("{get_result.note}!", "{use_result}")))

    assert state["answer"] == {"text": f"{FOUND['note']}!"}


@pytest.mark.parametrize("doubling", [" | [@,@]" * 40, " | join('', [url || @, url || @])" * 40])
def test_an_expression_that_doubles_at_every_part_fails_its_step_soon(start: Start, doubling: str) -> None:
    begun = time.process_time()

    state = approved(start(plan(f"{{get_result{doubling}}}"), replan="never"))

    assert state["status"] in ("partial", "failed")
    assert "refer to a smaller part" in state["reason"]
    assert time.process_time() - begun < 30


def test_a_plan_of_unclosed_references_is_read_soon(start: Start) -> None:
    begun = time.process_time()

    asked(start(plan("{get_result" * 20_000)).invoke({"goal": "g"}, on_thread()))

    assert time.process_time() - begun < 30
