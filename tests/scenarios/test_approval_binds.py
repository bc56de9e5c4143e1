"""What an approval binds to: what has changed by the time the answer comes, or the plan runs, is asked about anew."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from planner_executor import Agent, build_graph
from planner_executor.graph.errors import AgentError, OtherTermsError
from planner_executor.graph.ledger.sqlite.memory import MemoryLedger
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.testing import LoggedTools, ScriptedModel, asked, on_thread, step

PLAN = {"steps": [step("a", "save", path="out.md")]}
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}
WIDER = {"type": "object", "properties": {"path": {"type": "string"}, "mode": {"type": "string"}}}
DECLARED: dict[str, Any] = {"effect": "write", "schema": SCHEMA, "folder": "/srv/out"}


@pytest.fixture
def ledger() -> MemoryLedger:
    return MemoryLedger()


@pytest.fixture
def build(saver: InMemorySaver, ledger: MemoryLedger, tools: LoggedTools) -> Callable[..., Any]:
    def make(*answers: Any, declared: Any = None, **options: Any) -> Any:
        own = [tools.tool("save", lambda path: path, **{**DECLARED, **(declared or {})})]
        given = {"tools": own, "checkpointer": saver, "ledger": ledger, **options}
        return build_graph(ScriptedModel(answers), **given)

    return make


FACES: dict[str, dict[str, Any]] = {
    "the tool's schema": {"declared": {"schema": WIDER}},
    "its effect": {"declared": {"effect": "external"}},
    "whether it may be repeated": {"declared": {"idempotent": True}},
    "whether it may be trusted": {"declared": {"trusted": True}},
    "which arguments are free": {"declared": {"free_args": ("path",)}},
    "the folder": {"declared": {"folder": "/srv/elsewhere"}},
}
CHANGES: dict[str, dict[str, Any]] = {
    "the policy": {"policy": {"effects": {"write": "review"}}},
    "a constraint": {"policy": {"tools": {"save": {"args": {"path": {"within": ["."]}}}}}},
    "a hard limit": {"policy": {"limits": {"tool_calls": 99}}},
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_changes_before_the_answer_is_shown_and_the_answer_does_not_count(
    build: Any, tools: LoggedTools, change: str
) -> None:
    build(PLAN).invoke({"goal": "g"}, on_thread())

    changed = build(**CHANGES[change])
    request = asked(changed.invoke(Command(resume="approve"), on_thread()))

    assert request["error"] and tools.calls == []
    assert changed.invoke(Command(resume="approve"), on_thread())["status"] == "succeeded"


@pytest.mark.parametrize("change", CHANGES)
def test_what_changes_between_approval_and_call_is_asked_about_before_anything_is_called(
    build: Any, tools: LoggedTools, change: str
) -> None:
    graph = build(PLAN)
    graph.invoke({"goal": "g"}, on_thread())
    graph.invoke(Command(resume="approve"), on_thread(), interrupt_after=["review"])

    changed = build(**CHANGES[change])
    asked(changed.invoke(None, on_thread()))

    assert tools.calls == []
    assert changed.invoke(Command(resume="approve"), on_thread())["status"] == "succeeded"


@pytest.mark.parametrize("change", FACES)
@pytest.mark.parametrize("when", ["before the answer", "after the approval"])
def test_a_run_whose_tool_has_another_face_is_left(build: Any, tools: LoggedTools, change: str, when: str) -> None:
    graph = build(PLAN)
    graph.invoke({"goal": "g"}, on_thread())
    if when == "after the approval":
        graph.invoke(Command(resume="approve"), on_thread(), interrupt_after=["review"])

    changed = build(**FACES[change])
    for given in (Command(resume="approve"), None):
        with pytest.raises(OtherTermsError, match="save has changed"):
            changed.invoke(given, on_thread())

    assert tools.calls == []
    assert build().invoke(Command(resume="approve"), on_thread())["status"] == "succeeded"


def test_nothing_that_changed_is_asked_about_twice(build: Any, tools: LoggedTools) -> None:
    build(PLAN).invoke({"goal": "g"}, on_thread())

    state = build().invoke(Command(resume="approve"), on_thread())

    assert state["status"] == "succeeded" and len(tools.calls) == 1


@pytest.mark.parametrize("when", ["before the answer", "after the approval"])
def test_a_tool_that_is_denied_meanwhile_runs_for_nobody(build: Any, tools: LoggedTools, when: str) -> None:
    graph = build(PLAN)
    graph.invoke({"goal": "g"}, on_thread())
    denying = build(policy={"effects": {"write": "deny"}})
    if when == "after the approval":
        graph.invoke(Command(resume="approve"), on_thread(), interrupt_after=["review"])
        request = asked(denying.invoke(None, on_thread()))
    else:
        request = asked(denying.invoke(Command(resume="approve"), on_thread()))

    again = asked(denying.invoke(Command(resume="approve"), on_thread()))

    assert [issue["field"] for issue in request["issues"]] == ["tool"] and again["error"]
    assert denying.invoke(Command(resume="reject"), on_thread())["status"] == "rejected" and tools.calls == []


def test_a_mode_that_is_stricter_now_asks_about_what_ran_unasked(build: Any, tools: LoggedTools) -> None:
    build(PLAN, approval="never").invoke({"goal": "g"}, on_thread(), interrupt_after=["review"])

    strict = build(approval="always")
    asked(strict.invoke(None, on_thread()))

    assert tools.calls == []


TWO = {"steps": [step("a", "save", path="1"), step("b", "save", after=["a"], path="2")]}
RAISED = {"name": "raise_budget", "args": {"budget": {"tool_calls": 2}}}


def test_raising_a_budget_approves_no_plan_under_stricter_rules(build: Any, tools: LoggedTools) -> None:
    graph = build(TWO, budget={"tool_calls": 1})
    graph.invoke({"goal": "g"}, on_thread())
    graph.invoke(Command(resume="approve"), on_thread())

    changed = build(policy={"effects": {"write": "review"}})
    raising = {"decisions": [{"type": "edit", "edited_action": RAISED}]}
    request = asked(changed.invoke(Command(resume=raising), on_thread()))

    assert [action["name"] for action in request["action_requests"]] == ["run_plan", "raise_budget"]
    assert [args["path"] for args in tools.named("save")] == ["1"]
    both = {"decisions": [{"type": "approve"}, {"type": "edit", "edited_action": RAISED}]}
    assert changed.invoke(Command(resume=both), on_thread())["status"] == "succeeded"


def test_the_budget_that_was_raised_is_the_approved_one_and_nothing_is_asked_again(
    build: Any, tools: LoggedTools
) -> None:
    graph = build(TWO, budget={"tool_calls": 1})
    graph.invoke({"goal": "g"}, on_thread())
    graph.invoke(Command(resume="approve"), on_thread())

    state = graph.invoke(Command(resume={"type": "edit", "edited_action": RAISED}), on_thread())

    assert state["status"] == "succeeded" and len(tools.calls) == 2


async def test_who_approved_what_and_when_and_what_was_shown_is_on_record(build: Any, ledger: MemoryLedger) -> None:
    graph = build(PLAN)
    request = asked(graph.invoke({"goal": "g"}, on_thread()))
    graph.invoke(Command(resume="approve"), on_thread())

    events = await ledger.events(RunKey("thread", 1))
    (shown,) = [event for event in events if event.kind == "review_requested"]
    (decided,) = [event for event in events if event.kind == "decided"]

    assert shown.payload["digest"] == decided.payload["digest"] == request["digest"]
    assert shown.payload["shown"]["value"] == [request["action_requests"][0]["description"]]
    assert decided.payload["approver"].startswith("os:") and decided.payload["by"] == "person"
    assert decided.at >= shown.at > 0 and decided.payload["binding"]


@pytest.mark.parametrize("answers", [("approve", "reject"), ("approve", "approve"), ("reject", "approve")])
def test_two_clients_that_answer_at_once_make_one_decision(
    tmp_path: Path, tools: LoggedTools, answers: tuple[str, str]
) -> None:
    own = [tools.tool("save", lambda path: path, **DECLARED)]
    said: list[str] = []
    ready = threading.Barrier(2)

    def client(run: str, answer: str) -> None:
        with Agent.open(tmp_path / "runs.db", planner=ScriptedModel([]), tools=own) as agent:
            ready.wait()
            try:
                said.append(agent.resume(run, answer).status)
            except AgentError as error:
                said.append(type(error).__name__)

    for number in range(5):
        with Agent.open(tmp_path / "runs.db", planner=ScriptedModel([PLAN]), tools=own) as agent:
            run = agent.start("g", thread=f"t{number}").id
        clients = [threading.Thread(target=client, args=(run, answer)) for answer in answers]
        for one in clients:
            one.start()
        for one in clients:
            one.join()
        with Agent.open(tmp_path / "runs.db", planner=ScriptedModel([]), tools=own) as agent:
            ended = agent.show(run)
            if not ended.ended:
                ended = agent.resume(run)
            decisions = [event.payload["decision"] for event in agent.log(run) if event.kind == "decided"]

        assert len(decisions) == 1 and decisions[0] in answers
        assert ended.status == {"approve": "succeeded", "reject": "rejected"}[decisions[0]]
        assert len(tools.calls) == (decisions[0] == "approve"), said
        tools.calls.clear()
