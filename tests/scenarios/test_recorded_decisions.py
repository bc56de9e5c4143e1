"""The ledger holds all that a decision rested on: settings, tools, the chat before, what was shown and answered."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from planner_executor import build_graph
from planner_executor.graph.ledger.sqlite.memory import MemoryLedger
from planner_executor.graph.record.events import Event
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.testing import LoggedTools, ScriptedModel, asked, on_thread, step

PLAN = {"steps": [step("a", "look", name="x")]}
RUN = RunKey("thread", 1)


@pytest.fixture
def ledger() -> MemoryLedger:
    return MemoryLedger()


@pytest.fixture
def build(saver: InMemorySaver, ledger: MemoryLedger, tools: LoggedTools) -> Callable[..., Any]:
    def make(*answers: Any, **options: Any) -> Any:
        own = [tools.tool("look", lambda name: name, effect="read")]
        return build_graph(ScriptedModel(answers), **{"tools": own, "checkpointer": saver, "ledger": ledger, **options})

    return make


def events(ledger: MemoryLedger, kind: str, run: RunKey = RUN) -> list[Event]:
    return [event for event in asyncio.run(ledger.events(run)) if event.kind == kind]


def test_a_run_says_under_which_settings_models_and_tools_it_started(build: Any, ledger: MemoryLedger) -> None:
    build(PLAN, max_replans=1).invoke({"goal": "g"}, on_thread())

    (started,) = events(ledger, "run_started")
    configured = started.payload["configured"]
    assert configured["settings"]["max_replans"] == 1 and configured["settings"]["approval"] == "always"
    assert configured["models"] == {role: ["scripted"] for role in ("planner", "executor", "replanner")}
    (tool,) = json.loads(asyncio.run(ledger.artifact(configured["tools"]["artifact"]["id"])))
    assert (tool["name"], tool["effect"], tool["description"]) == ("look", "read", "look, for tests")


def test_it_is_told_when_a_run_goes_on_otherwise(build: Any, ledger: MemoryLedger, tools: LoggedTools) -> None:
    build(PLAN).invoke({"goal": "g"}, on_thread())

    build(max_concurrency=2).invoke(Command(resume="approve"), on_thread())

    (configured,) = events(ledger, "configured")
    assert configured.payload["settings"]["max_concurrency"] == 2 and tools.named("look") == [{"name": "x"}]


def test_many_tools_are_kept_once(build: Any, ledger: MemoryLedger, tools: LoggedTools) -> None:
    wide = {"type": "object", "properties": {f"p{number}": {"type": "string"} for number in range(500)}}
    many = [tools.tool("look", schema=wide)]
    graph = build({"steps": [], "answer": "1"}, {"steps": [], "answer": "2"}, tools=many)
    graph.invoke({"goal": "one"}, on_thread())
    graph.invoke({"goal": "two"}, on_thread())

    first, second = (events(ledger, "run_started", RunKey("thread", n))[0].payload for n in (1, 2))
    assert first["configured"] == second["configured"]
    (tool,) = json.loads(asyncio.run(ledger.artifact(first["configured"]["tools"]["artifact"]["id"])))
    assert tool["schema"]["properties"] == wide["properties"]


def test_the_chat_before_the_goal_is_on_record(build: Any, ledger: MemoryLedger) -> None:
    chat = [HumanMessage("Who wrote it?"), AIMessage("Ada"), HumanMessage("And when?")]

    build(PLAN).invoke({"messages": chat}, on_thread())

    (started,) = events(ledger, "run_started")
    assert started.payload["history"] == [
        {"user": "Who wrote it?"},
        {"untrusted_data": "<data>\nAda\n</data>"},
    ]


def test_a_plan_that_was_brought_and_refused_is_on_record_with_its_issues(build: Any, ledger: MemoryLedger) -> None:
    brought = {"steps": [step("a", "nope")]}

    build().invoke({"goal": "g", "plan": brought}, on_thread())

    (refused,) = events(ledger, "plan_refused")
    assert refused.payload["author"] == "caller" and refused.payload["brought"] == {"value": brought}
    assert refused.payload["issues"][0]["step"] == "a"


def test_a_brought_plan_that_is_no_json_is_on_record_in_words(build: Any, ledger: MemoryLedger) -> None:
    state = build().invoke({"goal": "g", "plan": {"steps": [step("a", "look", name=float("nan"))]}}, on_thread())

    assert state["status"] == "failed"
    assert "nan" in events(ledger, "plan_refused")[0].payload["brought"]["value"]


def test_a_planner_without_a_plan_leaves_its_faults_on_record(build: Any, ledger: MemoryLedger) -> None:
    build({"steps": [step("a", "nope")]}, max_repairs=0).invoke({"goal": "g"}, on_thread())

    (refused,) = events(ledger, "plan_refused")
    assert (refused.payload["author"], refused.payload["issues"][0]["field"]) == ("planner", "tool")


def test_the_words_that_were_shown_are_on_record(build: Any, ledger: MemoryLedger) -> None:
    request = asked(build(PLAN).invoke({"goal": "g"}, on_thread()))

    (shown,) = events(ledger, "review_requested")
    assert shown.payload["shown"] == {"value": [request["action_requests"][0]["description"]]}


def test_an_answer_that_is_none_is_on_record_as_it_was_given(build: Any, ledger: MemoryLedger) -> None:
    graph = build(PLAN)
    graph.invoke({"goal": "g"}, on_thread())
    graph.invoke(Command(resume={"type": "perhaps"}), on_thread())

    first, second, _ = events(ledger, "review_requested")
    assert "answer" not in first.payload and second.payload["answer"] == {"value": {"type": "perhaps"}}


@pytest.mark.parametrize(
    ("answer", "decisions"),
    [
        ("yes", [{"type": "approve"}]),
        ("use less", [{"type": "reject", "message": "use less"}]),
        (False, [{"type": "reject", "final": True}]),
        ({"steps": [step("a", "look", name="y")]}, [{"type": "edit", "args": {}}]),
    ],
)
def test_a_decision_is_on_record_as_it_was_read(build: Any, ledger: MemoryLedger, answer: Any, decisions: Any) -> None:
    graph = build(PLAN, PLAN)
    graph.invoke({"goal": "g"}, on_thread())
    graph.invoke(Command(resume=answer), on_thread())

    assert events(ledger, "decided")[0].payload["decisions"] == decisions
