"""What the first release wrote is read, gone on with, verified and replayed."""

import gzip
from pathlib import Path
from typing import Any

import pytest
from langchain_core.tools import BaseTool

from planner_executor import Agent
from planner_executor.graph.testing import LoggedTools, ScriptedModel

DATA = Path(__file__).parents[1] / "data" / "schema_1"


def _refuse(**_: Any) -> None:
    raise TimeoutError("the gateway did not answer")


def as_they_were(tools: LoggedTools) -> list[BaseTool]:
    """Return the tools that the runs were started with."""
    return [
        tools.tool("look", lambda **args: {"found": args.get("what", "nothing")}, effect="read"),
        tools.tool("look_slowly", lambda: "looked", effect="read"),
        tools.tool("pay", lambda **_: "receipt 17", effect="external"),
        tools.tool("refund", _refuse, effect="external"),
        tools.tool("kill", lambda **_: "done", effect="external"),
    ]


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "runs.db"
    path.write_bytes(gzip.decompress((DATA / "runs.db.gz").read_bytes()))
    return path


def test_a_run_that_waits_is_approved_as_it_was_shown(database: Path, tools: LoggedTools) -> None:
    with Agent.open(database, planner=ScriptedModel([]), tools=as_they_were(tools)) as agent:
        run = agent.resume("asks", "approve")

    assert run.status == "succeeded" and tools.named("pay") == [{"amount": 40}]


def test_a_run_that_was_paused_goes_on_without_another_question(database: Path, tools: LoggedTools) -> None:
    with Agent.open(database, planner=ScriptedModel([]), tools=as_they_were(tools)) as agent:
        run = agent.resume("paused")

    assert run.status == "succeeded"
    assert [name for name, _ in tools.calls] == ["look", "pay"], "the finished step is not repeated"


def test_a_question_is_answered(database: Path, tools: LoggedTools) -> None:
    with Agent.open(database, planner=ScriptedModel([]), tools=as_they_were(tools)) as agent:
        run = agent.resume("question", agent.show("question").decide(approve=True, answers={"city": "Oslo"}))

    assert run.answer == "Oslo"


def test_a_spent_budget_is_raised(database: Path, tools: LoggedTools) -> None:
    with Agent.open(database, planner=ScriptedModel([]), tools=as_they_were(tools)) as agent:
        run = agent.resume("spent", agent.show("spent").decide(limits={"tool_calls": 5}))

    assert run.status == "succeeded" and tools.named("look") == [{"what": 2}]


def test_an_uncertain_call_is_settled(database: Path, tools: LoggedTools) -> None:
    with Agent.open(database, planner=ScriptedModel([]), tools=as_they_were(tools)) as agent:
        run = agent.resume("unsettled", agent.show("unsettled").decide(happened=[True], results=["paid"]))

    assert run.status == "succeeded" and not tools.calls


def test_a_call_that_its_process_did_not_survive_is_asked_about(database: Path, tools: LoggedTools) -> None:
    with Agent.open(database, planner=ScriptedModel([]), tools=as_they_were(tools)) as agent:
        asked = agent.resume("killed")
        run = agent.resume("killed", asked.decide(happened=[False]))

    assert asked.request is not None and asked.request["action_requests"][0]["name"] == "settle_effect"
    assert run.status == "succeeded" and tools.named("kill") == [{"amount": 3}]


def test_every_run_is_listed_verified_and_told(database: Path) -> None:
    with Agent.open(database, planner=ScriptedModel([]), tools=[]) as agent:
        runs = {run.thread: run for run in agent.list()}
        verified = [agent.verify(run.id).is_whole for run in runs.values()]
        told = [list(agent.audit(run.id).lines()) for run in runs.values()]

    assert {name: run.status for name, run in runs.items()} == {
        "done": "succeeded",
        "asks": "waiting",
        "paused": "paused",
        "unsettled": "waiting",
        "question": "waiting",
        "spent": "waiting",
        "killed": "paused",
        "rejected": "rejected",
    }
    assert all(verified) and all(told)


@pytest.mark.parametrize("name", ["done", "rejected"])
def test_an_export_is_verified_and_replayed(name: str, tmp_path: Path) -> None:
    with Agent.open(tmp_path / "other.db", planner=ScriptedModel([]), tools=[]) as agent:
        assert agent.verify(DATA / f"{name}.jsonl").is_whole
        assert agent.replay(DATA / f"{name}.jsonl").is_same


def test_a_replay_says_where_an_uncertain_call_is_recorded_otherwise_today(tmp_path: Path) -> None:
    with Agent.open(tmp_path / "other.db", planner=ScriptedModel([]), tools=[]) as agent:
        assert agent.verify(DATA / "unsettled.jsonl").is_whole
        difference = agent.replay(DATA / "unsettled.jsonl").difference

    assert difference is not None and difference.replayed is not None
    assert (difference.seq, difference.replayed.kind) == (14, "step_uncertain")
