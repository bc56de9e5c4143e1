"""What version 2 of the tables holds is read, gone on with, verified, exported, redacted and replayed."""

import gzip
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from planner_executor import Agent
from planner_executor.graph.testing import LoggedTools, ScriptedModel

DATA = Path(__file__).parents[1] / "data" / "schema_2"
TEXT = "Wind farms far from the coast need longer cables, and each kilometre adds to what a megawatt hour costs. "


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "runs.db"
    path.write_bytes(gzip.decompress((DATA / "runs.db.gz").read_bytes()))
    return path


@pytest.fixture
def agent(database: Path, tools: LoggedTools) -> Iterator[Agent]:
    """An agent with the tools that the runs were started with."""
    own = [
        tools.tool("look", lambda what: {"found": what, "text": (TEXT * 20)[:1500]}, effect="read"),
        tools.tool("pay", lambda **_: "receipt 17", effect="external"),
    ]
    with Agent.open(database, planner=ScriptedModel([]), tools=own) as agent:
        yield agent


def kinds_of_payloads(database: Path, thread: str) -> list[str]:
    query = (
        "SELECT typeof(payload) FROM ledger_events JOIN ledger_runs ON ledger_runs.id = run "
        "WHERE thread = ? AND kind = 'call_finished' ORDER BY seq"
    )
    with closing(sqlite3.connect(database)) as db:
        return [kind for (kind,) in db.execute(query, (thread,))]


def test_a_run_that_waits_is_approved_as_it_was_shown(database: Path, agent: Agent, tools: LoggedTools) -> None:
    run = agent.resume("asks", "approve")

    assert (run.status, run.answer) == ("succeeded", "tides") and tools.named("pay") == [{"amount": 40}]
    assert kinds_of_payloads(database, "asks") == ["blob", "text"], "its new events are packed"
    assert agent.verify("asks").is_whole


def test_a_run_that_was_paused_goes_on_without_another_question(
    database: Path, agent: Agent, tools: LoggedTools
) -> None:
    run = agent.resume("paused")

    assert (run.status, run.answer) == ("succeeded", "pause")
    assert tools.calls == [("pay", {"amount": 40})], "the finished step is not repeated"
    assert kinds_of_payloads(database, "paused") == ["text", "text"] and agent.verify("paused").is_whole


def test_every_run_is_listed_verified_and_told(agent: Agent) -> None:
    runs = agent.list()

    assert {run.thread: run.status for run in runs} == {"done": "succeeded", "asks": "waiting", "paused": "paused"}
    assert all(agent.verify(run.id).is_whole and list(agent.audit(run.id).lines()) for run in runs)


def test_an_export_is_the_one_that_was_made_then(agent: Agent, tmp_path: Path) -> None:
    agent.export("done", tmp_path / "done.jsonl")

    assert (tmp_path / "done.jsonl").read_bytes() == (DATA / "done.jsonl").read_bytes()
    assert agent.replay(DATA / "done.jsonl").is_same


def test_a_value_is_taken_out_of_events_that_were_stored_as_text(database: Path, agent: Agent) -> None:
    done = agent.redact("done", "megawatt", reason="r")

    assert done.events and agent.verify("done").is_whole
    assert kinds_of_payloads(database, "done") == ["blob", "text"]
    assert "run done.1" not in done.remaining and "run paused.1" in done.remaining
