"""Each event by which a run goes on is told by the audit, verified, replayed, exported and redacted."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from planner_executor import Agent
from planner_executor.graph.runs.run import Run
from planner_executor.graph.testing import LoggedTools, ScriptedModel, step

SECRET = "tango quebec"
PLAN = {
    "steps": [
        step("look", "look", at=f"the {SECRET}"),
        step("mail", "mail", to=f"{SECRET}@example.org"),
        step("fax", "mail", to="fax", after=["mail"]),
        step("price", "look", at="price"),
        step("out", "service", price="{price_result}"),
    ]
}
TOLD = {
    "step_skipped": f"fax is skipped by os:.*: {SECRET} said so",
    "result_supplied": f"gave the result of price: .*{SECRET}",
    "run_reopened": "reopened by os:",
    "run_forked": "forked from",
    "inherited": f"look has its result of .*{SECRET}",
    "call_inherited": f"mail called mail in .*{SECRET}@example.org",
}


@dataclass
class World:
    """A run that was changed, failed and was retried, and its fork."""

    agent: Agent
    retried: Run
    fork: Run

    def of(self, kind: str) -> Run:
        """Return the run with events of this kind."""
        return self.fork if kind in ("run_forked", "inherited", "call_inherited") else self.retried


def approved(agent: Agent, run: Run) -> Run:
    while run.request is not None:
        run = agent.resume(run.id, run.decide(approve=True))
    return run


@pytest.fixture
def world(tmp_path: Path, tools: LoggedTools) -> Any:
    def serve(price: str) -> str:
        if len(tools.named("service")) == 1:
            raise ConnectionError("the service is out")
        return price

    own = [
        tools.tool("look", lambda at: f"saw {at}", effect="read", trusted=True),
        tools.tool("mail", lambda to: f"sent to {to}", effect="external", trusted=True),
        tools.tool("service", serve, effect="read", trusted=True),
    ]
    with Agent.open(tmp_path / "runs.db", planner=ScriptedModel([]), tools=own, replan="never") as agent:
        run = agent.start("g", plan=PLAN)
        agent.skip(run.id, "fax", f"{SECRET} said so")
        agent.supply(run.id, "price", f"{SECRET} pays 9")
        assert approved(agent, agent.resume(run.id)).status == "partial"
        retried = approved(agent, agent.retry(run.id))
        yield World(agent, retried, approved(agent, agent.fork(run.id, "price", values={"price": "10"})))


def test_each_event_is_told_verified_replayed_exported_and_redacted(world: World, tmp_path: Path) -> None:
    agent = world.agent
    assert (world.retried.status, world.fork.status) == ("succeeded", "succeeded")
    for kind, words in TOLD.items():
        run = world.of(kind)
        assert [event for event in agent.log(run.id) if event.kind == kind], kind
        assert re.search(words, str(agent.audit(run.id))), (kind, str(agent.audit(run.id)))

    for run in (world.retried, world.fork):
        file = tmp_path / f"{run.id}.jsonl"
        assert agent.verify(run.id).is_whole and agent.export(run.id, file).is_whole
        assert agent.verify(file).is_whole and SECRET in file.read_text()
        assert agent.replay(run.id).is_same, str(agent.replay(run.id))
        assert agent.replay(file).is_same

        agent.redact(run.id, SECRET, reason="a name")
        redacted = tmp_path / f"{run.id}-redacted.jsonl"
        agent.export(run.id, redacted)
        assert SECRET not in redacted.read_text() and agent.verify(redacted).is_whole
        assert agent.replay(run.id).is_same, str(agent.replay(run.id))
        assert SECRET not in str(agent.audit(run.id))
