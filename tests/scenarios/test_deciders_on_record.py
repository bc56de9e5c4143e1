"""Who decided stands in the ledger: a person with a name, or nobody who looked; and what that is good for."""

import getpass
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from planner_executor import Agent
from planner_executor.graph.errors import InputError, NothingToDecideError
from planner_executor.graph.testing import LoggedTools, ScriptedModel, step

ME = f"os:{getpass.getuser()}"
SEND = {"steps": [step("send", "send", to="ann")]}
AGAIN = {"steps": [step("again", "send", to="ann")]}


def failing(**_: Any) -> None:
    raise OSError("the line went dead")


@pytest.fixture
def agent(tmp_path: Path, tools: LoggedTools) -> Iterator[Agent]:
    source = tools.tool("inbox", lambda: {"to": "eve"}, effect="read", trusted=False)
    own = [tools.tool("send", failing, effect="external"), tools.tool("mail", effect="external"), source]
    with Agent.open(tmp_path / "runs.db", planner=ScriptedModel([SEND, AGAIN]), tools=own, max_replans=1) as opened:
        yield opened


def decided(agent: Agent, run: str) -> list[tuple[str, str, str]]:
    events = [event.payload for event in agent.log(run) if event.kind == "decided"]
    return [(event["decision"], event["by"], event["approver"]) for event in events]


def test_a_person_is_known_by_the_operating_system(agent: Agent) -> None:
    run = agent.start("g")

    agent.resume(run.id, run.decide(approve=True))

    assert decided(agent, run.id)[0] == ("approve", "person", ME)


def test_what_was_given_beforehand_stands_as_unseen(agent: Agent) -> None:
    run = agent.start("g")

    agent.resume(run.id, run.decide(approve=True), unseen=True)

    assert decided(agent, run.id)[0] == ("approve", "unseen", ME)
    assert f"approved by {ME}, unseen" in str(agent.audit(run.id, "decisions"))


@pytest.mark.parametrize("unseen", [False, True])
def test_no_approval_of_a_plan_lets_a_call_be_made_again_that_may_have_happened(
    agent: Agent, tools: LoggedTools, unseen: bool
) -> None:
    run = agent.start("g")
    run = agent.resume(run.id, run.decide(approve=True))
    assert run.request is not None and "may have taken effect" in run.request["action_requests"][0]["description"]

    run = agent.resume(run.id, run.decide(approve=True), unseen=unseen)

    assert run.request is not None and run.request["action_requests"][0]["name"] == "settle_effect"
    assert len(tools.named("send")) == 1


def test_nothing_but_a_plan_is_approved_unseen(agent: Agent, tools: LoggedTools) -> None:
    plan = {"steps": [step("in", "inbox"), step("out", "mail", to="{in_result.to}")]}
    run = agent.start("g", plan=plan)
    run = agent.resume(run.id, run.decide(approve=True), unseen=True)

    refused = agent.resume(run.id, run.decide(approve=True), unseen=True)

    assert refused.request is not None and "a person has to decide" in refused.request["error"]
    assert tools.named("mail") == []
    assert agent.resume(run.id, refused.decide(approve=True)).status == "succeeded"
    assert tools.named("mail") == [{"to": "eve"}]


def test_an_answer_is_about_what_was_shown(agent: Agent) -> None:
    run = agent.start("g", plan={"steps": [{"id": "city", "objective": "know it", "ask": "Which city?"}]})

    with pytest.raises(InputError):
        run.decide(approve=True)
    ended = agent.resume(run.id, run.decide(approve=True, answers={"city": "Oslo"}))

    assert ended.answer == "Oslo"
    with pytest.raises(NothingToDecideError):
        ended.decide(approve=True)
