"""Answers that come late, twice, or to something else than was shown: told so, and no call that nobody approved."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.types import Command

from planner_executor import Agent
from planner_executor.graph.errors import AgentError, NothingToDecideError
from planner_executor.graph.review.response import ReviewResponse, build_response
from planner_executor.graph.testing import LoggedTools, ScriptedModel, asked, on_thread, step

PLAN = {"steps": [step("a", "pay", amount=1)]}
OTHER = {"steps": [step("b", "pay", amount=1_000)]}
THREE = {"steps": [step(f"s{n}", "pay", amount=n) for n in range(3)]}


@pytest.fixture
def agent(tmp_path: Path, tools: LoggedTools) -> Iterator[Agent]:
    pay = tools.tool("pay", lambda amount: amount)
    with Agent.open(tmp_path / "runs.db", planner=ScriptedModel([PLAN, OTHER]), tools=[pay]) as agent:
        yield agent


def changed(agent: Agent, how: str) -> None:
    """Have another client bring about that another plan is shown."""
    if how == "feedback":
        agent.resume("t", "pay more")
    else:
        agent.steer("t", add=["pay more"])


@pytest.mark.parametrize("how", ["feedback", "steer"])
def test_an_approval_of_what_another_client_has_changed_meanwhile_approves_nothing(
    agent: Agent, tools: LoggedTools, how: str
) -> None:
    seen = agent.start("g", thread="t")
    changed(agent, how)

    run = agent.resume("t", seen.decide(approve=True))

    assert run.status == "waiting" and run.request is not None and tools.calls == []
    assert "digest" in str(run.request["error"]) and run.request["digest"] != seen.request["digest"]
    assert agent.resume("t", run.decide(approve=True)).answer == 1_000 and tools.calls == [("pay", {"amount": 1_000})]


@pytest.mark.parametrize("late", ["approve", "reject", "another way", PLAN])
def test_an_answer_to_a_run_that_has_ended_is_an_error_and_changes_nothing(
    agent: Agent, tools: LoggedTools, late: Any
) -> None:
    seen = agent.start("g", thread="t")
    agent.resume("t", seen.decide(approve=True))
    events = len(agent.log("t"))

    with pytest.raises(NothingToDecideError):
        agent.resume("t", late)

    assert len(tools.calls) == 1 and len(agent.log("t")) == events


def test_an_approval_of_a_run_that_was_cancelled_meanwhile_runs_nothing(agent: Agent, tools: LoggedTools) -> None:
    seen = agent.start("g", thread="t")
    agent.cancel("t")

    with pytest.raises(AgentError):
        agent.resume("t", seen.decide(approve=True))

    assert agent.show("t").status == "cancelled" and tools.calls == []


def test_a_budget_that_is_raised_twice_is_raised_once(tmp_path: Path, tools: LoggedTools) -> None:
    options = {"tools": [tools.tool("pay", lambda amount: amount)], "budget": {"tool_calls": 1}}
    with Agent.open(tmp_path / "runs.db", planner=ScriptedModel([THREE]), **options) as agent:
        seen = agent.resume(agent.start("g", thread="t").id, "approve")
        raised = seen.decide(limits={"tool_calls": 2})

        assert agent.resume("t", raised).status == "waiting" and len(tools.calls) == 2
        again = agent.resume("t", raised)

    assert again.status == "waiting" and again.request is not None and len(tools.calls) == 2
    assert "digest" in str(again.request["error"])


PAGES = [
    step("p", "page", n=1), step("s", "send", to="{p_result}"),
    step("q", "page", n=2, after=["s"]), step("z", "send", to="{q_result}"),
]  # fmt: skip


def test_an_approval_of_a_call_is_no_approval_of_the_next(tmp_path: Path, tools: LoggedTools) -> None:
    words = {1: "ann@example.com", 2: "mallory@example.com"}
    own = [
        tools.tool("page", lambda n: words[n], effect="read", trusted=False),
        tools.tool("send", lambda to: to, effect="external"),
    ]
    with Agent.open(tmp_path / "runs.db", planner=ScriptedModel([{"steps": PAGES}]), tools=own) as agent:
        held = agent.resume(agent.start("g", thread="t").id, "approve")
        said = held.decide(approve=True)

        agent.resume("t", said)
        again = agent.resume("t", said)

    assert again.status == "waiting" and again.request is not None and "digest" in str(again.request["error"])
    assert tools.named("send") == [{"to": "ann@example.com"}]


@pytest.mark.parametrize("names_digest", [True, False])
def test_what_is_said_of_one_uncertain_call_is_not_said_of_the_next(
    tmp_path: Path, tools: LoggedTools, names_digest: bool
) -> None:
    plan = {"steps": [step("a", "pay", amount=1), step("b", "pay", after=["a"], amount=2)]}
    again = [
        {"keep": ["b"], "steps": [step("a", "pay", amount=1)]},
        {"steps": [step("c", "pay", after=["a"], amount=2)]},
    ]
    fails = tools.tool("pay", lambda amount: 1 / 0)
    with Agent.open(
        tmp_path / "runs.db", planner=ScriptedModel([plan, *again]), tools=[fails], approval="never"
    ) as agent:
        said = agent.start("g", thread="t").decide(happened=[True], results=["paid"])
        said = said if names_digest else {"decisions": said["decisions"]}

        assert agent.resume("t", said).request["error"] is None
        run = agent.resume("t", said)

    assert run.status == "waiting" and run.request is not None and run.request["error"]
    assert [args["amount"] for _, args in tools.calls] == [1, 2]


def test_an_answer_to_one_question_is_no_answer_to_the_next(tmp_path: Path, tools: LoggedTools) -> None:
    plan = {
        "steps": [
            {"id": "to", "objective": "o", "ask": "To whom?"},
            {"id": "sure", "objective": "o", "ask": "Are you sure?", "depends_on": ["to"]},
            step("s", "send", to="{sure_result}"),
        ]
    }
    send = tools.tool("send", lambda to: to)
    with Agent.open(tmp_path / "runs.db", planner=ScriptedModel([plan]), tools=[send], approval="never") as agent:
        said = {"decisions": agent.start("g", thread="t").decide(answers={"to": "ann"})["decisions"]}

        assert agent.resume("t", said).request["error"] is None
        run = agent.resume("t", said)

    assert run.status == "waiting" and run.request is not None and run.request["error"] and tools.calls == []


PAY = AIMessage("", tool_calls=[{"name": "pay", "args": {"amount": 150}, "id": "1"}])
TWICE = {"steps": [{"id": "m", "objective": "pay", "tools": ["pay"], "max_calls": 2}]}
ASK: dict[str, Any] = {"policy": {"tools": {"pay": {"verdict": "ask"}}}, "approval": "never"}


def test_an_approval_of_a_call_is_none_of_an_equal_one_later(tmp_path: Path, tools: LoggedTools) -> None:
    own = [tools.tool("pay", effect="external")]
    with Agent.open(tmp_path / "runs.db", planner=ScriptedModel([PAY, PAY, "done"]), tools=own, **ASK) as agent:
        first = agent.start("g", plan=TWICE, thread="t")
        said = first.decide(approve=True)

        second = agent.resume("t", said)
        run = agent.resume("t", said)

        shown = [one.request["action_requests"][0]["args"] for one in (first, second, run)]
        assert shown == [shown[0]] * 3 and "digest" in str(run.request["error"]) and len(tools.calls) == 1
        assert agent.resume("t", run.decide(approve=True)).status == "succeeded" and len(tools.calls) == 2


def test_no_command_repeats_an_approval_of_an_equal_call(build: Any, tools: LoggedTools) -> None:
    graph = build(PAY, PAY, "done", tools=[tools.tool("pay", effect="external")], **ASK)
    state = graph.invoke({"goal": "g", "plan": TWICE}, on_thread())
    said, button = build_response(asked(state), ReviewResponse(approve=True)), buttons(state)

    state = graph.invoke(Command(resume=said), on_thread())
    assert len(buttons(state)) == 1 and buttons(state) != button
    state = graph.invoke(Command(resume=said), on_thread())

    assert "digest" in asked(state)["error"] and len(tools.calls) == 1


def buttons(state: Any) -> list[str]:
    """Return the names of the open calls by which a chat draws buttons."""
    return [call["id"] for message in state["messages"] for call in getattr(message, "tool_calls", ())]


def test_what_is_said_of_an_uncertain_call_is_not_said_of_its_next_attempt(tmp_path: Path, tools: LoggedTools) -> None:
    fails = tools.tool("pay", lambda amount: 1 / 0)
    options = {"tools": [fails], "approval": "never", "replan": "never"}
    with Agent.open(tmp_path / "runs.db", planner=ScriptedModel([PLAN]), **options) as agent:
        failed = agent.start("g", thread="t")
        said = agent.retry(failed.id).decide(happened=[False])
        assert agent.resume("t", said).status == "failed" and len(tools.calls) == 2
        agent.retry(failed.id)

        run = agent.resume("t", said)

    assert "digest" in str(run.request["error"]) and len(tools.calls) == 2


def test_an_approval_of_a_plan_is_none_of_it_under_other_terms(tmp_path: Path, tools: LoggedTools) -> None:
    def opened(effect: str) -> Any:
        own = [tools.tool("pay", effect=effect)]
        return Agent.open(tmp_path / "runs.db", planner=ScriptedModel([PLAN]), tools=own)

    with opened("write") as agent:
        said = agent.start("g", thread="t").decide(approve=True)
    with opened("external") as agent:
        runs = [agent.resume("t", said, take_over=True) for _ in range(3)]

        assert [run.status for run in runs] == ["waiting"] * 3 and tools.calls == []
        assert "digest" in str(runs[-1].request["error"])
        assert agent.resume("t", runs[-1].decide(approve=True)).status == "succeeded"
