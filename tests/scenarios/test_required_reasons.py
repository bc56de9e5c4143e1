"""A policy may require a reason of whoever approves calls of a tool: every door asks for it, and the record has it."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from desk_server import decide, query, served
from rich.console import Console

from planner_executor import Agent, Person
from planner_executor.graph.cli.prompts import Prompter
from planner_executor.graph.cli.request_view import show_decision_commands
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.runs.run import Run
from planner_executor.graph.testing import LoggedTools, ScriptedModel, step

REASON: dict[str, Any] = {"tools": {"pay": {"reason": True}}}
ASKED: dict[str, Any] = {"tools": {"pay": {"reason": True, "verdict": "ask"}}}
WHY = "the invoice of May"
APPROVE = {"type": "approve"}
PAY = {"steps": [step("p", "pay", to="ann", amount=9)]}
HELD = {"steps": [step("l", "page"), step("p", "pay", to="{l_result}", amount=9)]}
LOOK = {"steps": [step("l", "look")]}


def own_tools(log: LoggedTools) -> list[Any]:
    return [
        log.tool("look", lambda **_: 1, effect="read", trusted=True),
        log.tool("page", lambda **_: "eve", effect="read", trusted=False),
        log.tool("pay", lambda **_: 1, effect="external", trusted=True),
    ]


@pytest.fixture
def agent(tmp_path: Path, tools: LoggedTools) -> Iterator[Agent]:
    planner = ScriptedModel([PAY] * 3)
    with Agent.open(tmp_path / "runs.db", policy=REASON, tools=own_tools(tools), planner=planner) as opened:
        yield opened


def edit(name: str, **args: Any) -> dict[str, Any]:
    return {"type": "edit", "edited_action": {"name": name, "args": args}}


def reasons(agent: Agent, run: Run) -> list[str]:
    made = [event.payload for event in agent.log(run.id) if event.kind == "decided"]
    return [one["reason"] for each in made for one in each["decisions"] if "reason" in one]


def refused(run: Run) -> bool:
    assert run.request is not None
    return "the policy requires a reason to approve pay" in str(run.request["error"])


def test_an_approval_without_a_reason_is_asked_again_and_one_with_it_is_on_record(
    agent: Agent, tools: LoggedTools
) -> None:
    run = agent.start("g", plan=PAY)
    assert run.request is not None and run.request["review"]["reason_for"] == ["pay"]
    assert "an approval has to give its reason, for pay" in run.request["action_requests"][0]["description"]

    for bare in ("approve", True, APPROVE, {**APPROVE, "reason": "  "}, run.decide(approve=True)):
        assert refused(agent.resume(run.id, bare)), bare
    assert refused(agent.resume(run.id, APPROVE, unseen=True)) and not tools.calls
    done = agent.resume(run.id, run.decide(approve=True, reason=WHY))

    assert done.status == "succeeded" and reasons(agent, done) == [WHY] and len(tools.calls) == 1
    assert agent.verify(run.id) and agent.replay(run.id).is_same
    assert WHY in json.dumps(agent.audit(run.id).to_json())


def test_in_a_chat_the_reason_stands_behind_the_word(agent: Agent) -> None:
    run = agent.start("g", plan=PAY)

    done = agent.resume(run.id, f"Approve: {WHY}")

    assert done.status == "succeeded" and reasons(agent, done) == [WHY]


def test_an_edit_needs_the_reason_of_what_it_brings_into_force(agent: Agent, tools: LoggedTools) -> None:
    run = agent.start("g", plan={"steps": [step("l", "page")]})

    assert run.request is not None and "reason_for" not in run.request["review"]
    assert refused(agent.resume(run.id, edit("run_plan", plan=PAY))) and not tools.calls
    done = agent.resume(run.id, {**edit("run_plan", plan=PAY), "reason": WHY})

    assert done.status == "succeeded" and reasons(agent, done) == [WHY] and agent.replay(run.id).is_same


def test_an_edit_that_takes_the_tool_out_needs_none(agent: Agent, tools: LoggedTools) -> None:
    run = agent.start("g", plan=PAY)

    done = agent.resume(run.id, edit("run_plan", plan=LOOK))

    assert done.status == "succeeded" and [name for name, _ in tools.calls] == ["look"]


@pytest.mark.parametrize(
    "bare",
    [
        APPROVE,
        edit("run_step", step="p", tool="pay", args={"to": "bob", "amount": 9}),
        {**APPROVE, "standing": {"at_most": 2}},
    ],
    ids=["approve", "edit", "standing"],
)
def test_a_call_that_is_shown_by_itself_needs_a_reason_of_its_own(
    agent: Agent, tools: LoggedTools, bare: dict[str, Any]
) -> None:
    begun = agent.start("g", plan=HELD)
    run = agent.resume(begun.id, {**APPROVE, "reason": "of the plan"})
    assert run.request is not None and run.request["action_requests"][0]["name"] == "run_step"

    assert refused(agent.resume(run.id, bare)) and not tools.named("pay")
    done = agent.resume(run.id, {**bare, "reason": WHY})

    assert done.status == "succeeded" and reasons(agent, done) == ["of the plan", WHY]


def test_what_is_rejected_or_does_not_call_the_tool_needs_none(agent: Agent) -> None:
    assert agent.resume(agent.start("g", plan=PAY).id, {"type": "reject", "final": True}).status == "rejected"
    assert agent.resume(agent.start("g", plan=LOOK).id, "approve").status == "succeeded"


def test_a_plan_with_the_tool_is_shown_in_every_mode(tmp_path: Path, tools: LoggedTools) -> None:
    for rule in ({"reason": True}, {"reason": True, "verdict": "allow"}):
        policy = {"tools": {"pay": rule}}
        with Agent.open(
            tmp_path / "n.db", policy=policy, approval="never", tools=own_tools(tools), planner=ScriptedModel([])
        ) as agent:
            assert refused(agent.resume(agent.start("g", plan=PAY).id, "approve")) and not tools.calls


def test_each_of_several_approvers_gives_their_own(tmp_path: Path, tools: LoggedTools) -> None:
    policy = {**REASON, "approvers": {"roles": ["finance"], "quorum": 2}}
    ann, bob = (Person(f"{name}@x", ["finance"], proof=True) for name in ("ann", "bob"))
    options: dict[str, Any] = {"tools": own_tools(tools), "planner": ScriptedModel([]), "identity": lambda by: by}
    with Agent.open(tmp_path / "v.db", policy=policy, **options) as agent:
        run = agent.start("g", plan=PAY)
        agent.resume(run.id, {**APPROVE, "reason": "ann's"}, by=ann)
        assert refused(agent.resume(run.id, APPROVE, by=bob))
        assert agent.resume(run.id, {**APPROVE, "reason": "bob's"}, by=bob).status == "succeeded"


def test_the_desk_has_a_field_for_it_and_keeps_what_was_typed(tmp_path: Path) -> None:
    with served(tmp_path / "runs.db", tools=own_tools, options={"policy": REASON}) as server, server.agent() as agent:
        run = agent.start("g", plan=PAY, thread="t")
        with server.visit() as visit:
            assert "the policy requires it for pay" in visit.get(query("/review", run.id)).text
            again = decide(visit, run.id, decision="approve")
            assert again.status_code == 422 and "requires a reason to approve pay" in again.text
            kept = decide(visit, run.id, decision="approve", **{"comment:p": "half a thought"})
            assert kept.status_code == 422 and "half a thought" in kept.text
            assert decide(visit, run.id, decision="approve", message=WHY).status_code == 303
        assert reasons(agent, agent.show(run.id)) == [WHY]


def test_the_terminal_asks_for_it_and_its_commands_have_a_place_for_it(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, out = agent.start("g", plan=PAY), io.StringIO()
    console = Console(file=out, width=1000)
    screen = Screen(console, console, interactive=True)

    show_decision_commands(screen, run, "runs.db")
    monkeypatch.setattr("sys.stdin", io.StringIO(f"y\n\n{WHY}\n"))
    reply = Prompter(screen, "runs.db").reply(run)

    assert "--approve --reason TEXT" in out.getvalue()
    assert reply is not None and reply.decisions["decisions"] == [{"type": "approve", "reason": WHY}]
