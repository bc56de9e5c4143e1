"""What a run leaves in its database: each result a few times, however many there are, and nothing for nothing."""

import sqlite3
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from planner_executor import Agent, build_graph
from planner_executor.graph.record.values import to_text
from planner_executor.graph.testing import LoggedTools, ScriptedModel, step

KILOBYTE = 1_000


def words(name: str) -> str:
    """Return a kilobyte of text."""
    return (f"{name} " * KILOBYTE)[:KILOBYTE]


LOOK = LoggedTools().tool("look", words, is_async=True, effect="read")


def wide(steps: int) -> dict[str, Any]:
    return {"steps": [step(f"s{n}", "look", name=f"n{n}") for n in range(steps)]}


def chain(steps: int) -> dict[str, Any]:
    return {"steps": [step(f"s{n}", "look", after=[f"s{n - 1}"] if n else [], name=f"n{n}") for n in range(steps)]}


def run(database: Path, plan: dict[str, Any]) -> Any:
    with Agent.open(database, planner=ScriptedModel([plan]), tools=[LOOK], approval="never") as agent:
        ended = agent.start("g", thread="t")
        assert ended.status == "succeeded"
        return agent.value("t")


def size_bytes(database: Path) -> int:
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return database.stat().st_size


@pytest.mark.parametrize("shape", [wide, chain])
def test_a_result_of_a_kilobyte_takes_five_at_most(tmp_path: Path, shape: Any) -> None:
    few, many = 100, 300
    sizes = {}
    for steps in (few, many):
        run(tmp_path / f"{steps}.db", shape(steps))
        sizes[steps] = size_bytes(tmp_path / f"{steps}.db")

    assert (sizes[many] - sizes[few]) / (many - few) < 5 * KILOBYTE


def test_a_large_answer_that_results_make_up_is_put_together_when_it_is_asked_for(tmp_path: Path) -> None:
    answer = run(tmp_path / "runs.db", wide(300))

    assert list(answer) == [f"s{n}" for n in range(300)]
    assert answer["s7"] == words("n7")
    with closing(sqlite3.connect(tmp_path / "runs.db")) as connection:
        kept = {name for (name,) in connection.execute("SELECT id FROM ledger_artifacts")}
    assert sha256(to_text(answer).encode()).hexdigest() not in kept


def test_a_large_answer_is_told_by_its_beginning_and_nothing_in_the_file_rests_on_a_value_taken_out(
    tmp_path: Path,
) -> None:
    answer = run(tmp_path / "runs.db", wide(300))
    of_answer = sha256(to_text(answer).encode()).hexdigest()

    with Agent.open(tmp_path / "runs.db", planner=ScriptedModel([]), tools=[LOOK]) as agent:
        told = str(agent.audit("t"))
        agent.redact("t", "n299 n299", reason="r")
        redacted = agent.value("t")

    assert f'{len(to_text(answer))} bytes, derived from the results: {{"s0":' in told
    assert "[redacted]" in redacted["s299"] and redacted["s7"] == answer["s7"]
    size_bytes(tmp_path / "runs.db")
    assert of_answer.encode() not in (tmp_path / "runs.db").read_bytes()


def test_the_chat_says_only_the_beginning_of_an_answer_that_is_a_large_object(tmp_path: Path) -> None:
    app = build_graph(ScriptedModel([wide(100)]), tools=[LOOK], approval="never", ledger=tmp_path / "runs.db")

    state = app.invoke({"goal": "g"})

    assert len(state["answer"]) == 100
    assert len(str(state["messages"][-1].text)) < 11_000
