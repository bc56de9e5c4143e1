"""The row of a run in lists says what the run itself says, wherever its results come from."""

import gzip
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from planner_executor import Agent
from planner_executor.graph.record.summary import RunSummary
from planner_executor.graph.runs.run import Run
from planner_executor.graph.testing import LoggedTools, ScriptedModel, step

PLAN: dict[str, Any] = {
    "steps": [step("a", "look", at="x"), step("b", "mail", to="{a_result}"), step("c", "look", at="y", after=["b"])]
}
DATA = Path(__file__).parents[1] / "data"


@pytest.fixture
def agent(tmp_path: Path, tools: LoggedTools) -> Any:
    def mail(to: str) -> str:
        if to == "x" and tools.log.count(("mail", {"to": "x"})) == 1:
            raise ValueError("the server is full")
        return f"sent to {to}"

    own = [tools.tool("mail", mail, effect="write"), tools.tool("look", lambda at: at, effect="read")]
    with Agent(tmp_path / "runs.db", planner=ScriptedModel([]), tools=own, replan="never") as agent:
        yield agent


def facts(run: Run | RunSummary) -> Sequence[object]:
    if isinstance(run, RunSummary):
        return run.id, run.status, run.revision, run.steps, run.succeeded, run.updated_at
    statuses = list(run.step_status.values())
    return run.id, run.status, run.revision, len(statuses), statuses.count("succeeded"), run.updated_at


def check(agent: Agent) -> list[tuple[str, int, int]]:
    rows = list(agent.list())
    assert [facts(row) for row in rows] == [facts(agent.show(row.id)) for row in rows]
    return [(row.status, row.succeeded, row.steps) for row in rows]


def approved(agent: Agent) -> Run:
    return agent.resume(agent.start("g", plan=PLAN).id, "approve")


def to_the_end(agent: Agent, run: Run) -> Run:
    while run.request is not None:
        asked = [one["name"] for one in run.request["action_requests"]]
        happened = [False] * asked.count("settle_effect")
        run = agent.resume(run.id, run.decide(approve=len(asked) > len(happened), happened=happened))
    return run


def failed(agent: Agent) -> None:
    approved(agent)


def retried(agent: Agent) -> None:
    to_the_end(agent, agent.retry(approved(agent).id))


def skipped(agent: Agent) -> None:
    run = agent.start("g", plan=PLAN)
    to_the_end(agent, agent.resume(agent.skip(run.id, "b").id))


def supplied(agent: Agent) -> Run:
    run = agent.start("g", plan=PLAN)
    return to_the_end(agent, agent.resume(agent.supply(run.id, "b", "sent by hand").id))


def forked(agent: Agent) -> None:
    to_the_end(agent, agent.fork(supplied(agent).id, "c"))


def edited(agent: Agent) -> None:
    run = approved(agent)
    other = {"steps": [step("a", "look", at="x"), step("z", "look", at="{a_result}")]}
    to_the_end(agent, agent.retry(run.id, plan=other))


@pytest.mark.parametrize("story", [failed, retried, skipped, supplied, forked, edited])
def test_the_row_of_a_run_says_what_the_run_says(agent: Agent, story: Callable[[Agent], None]) -> None:
    story(agent)

    check(agent)


def test_a_fork_whose_steps_all_succeeded_is_listed_with_all_of_them(agent: Agent) -> None:
    forked(agent)

    assert check(agent)[0] == ("succeeded", 3, 3)


@pytest.mark.parametrize("version", ["schema_1", "schema_2", "schema_3", "schema_5"])
def test_the_row_of_a_migrated_run_says_what_the_run_says(version: str, tmp_path: Path) -> None:
    file = tmp_path / "runs.db"
    file.write_bytes(gzip.decompress((DATA / version / "runs.db.gz").read_bytes()))
    with Agent(file, planner=ScriptedModel([]), tools=[]) as agent:
        assert check(agent)
