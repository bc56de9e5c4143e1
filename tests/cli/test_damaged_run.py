"""One damaged run in a database: it is named, and hides no other."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import Result

from planner_executor import Agent
from planner_executor.graph.testing import LoggedTools, step

Cli = Callable[..., Result]
PLAN = {"steps": [step("a", "pay", to="ann"), {"id": "g", "objective": "consent", "gate": "ok?", "depends_on": ["a"]}]}


@pytest.fixture
def approval(folder: Path) -> str:
    """A standing approval of the run good.1; the run bad.1 has one too, and a changed event."""
    tools = [LoggedTools().tool("pay", effect="external")]
    with Agent("planner-executor.db", tools=tools, policy={"tools": {"pay": {"verdict": "ask"}}}) as agent:
        for thread in ("good", "bad"):
            agent.start("pay", plan=PLAN, thread=thread)
            agent.resume(thread, {"type": "approve", "ask_later": ["a"]})
            agent.resume(thread, {"type": "approve", "standing": {"at_most": 5}})
        found = agent.approvals("good")[0].approval.id
    with closing(sqlite3.connect("planner-executor.db")) as file, file:
        bad = "SELECT id FROM ledger_runs WHERE thread = 'bad'"
        file.execute(f"UPDATE ledger_events SET at = 5 WHERE seq = 3 AND run = ({bad})")
    return found


def test_the_approvals_of_other_runs_are_listed_and_revoked(cli: Cli, approval: str) -> None:
    done = cli("approvals")

    assert done.exit_code == 4 and approval in done.stdout
    assert "run bad.1 is left out" in done.stderr and "event 3 of run bad.1 was changed" in done.stderr
    assert "bad.1 is left out" in cli("approvals", "--revoke", "nothing").stderr
    assert cli("approvals", "--revoke", approval).exit_code == 0


def test_the_other_threads_are_copied(cli: Cli, approval: str) -> None:
    done = cli("copy", "--all", "--to", "other.db")

    assert done.exit_code == 4 and "copied run good.1" in done.stdout and "thread bad was not copied" in done.stderr
    assert "good.1" in cli("runs", "--db", "other.db").stdout


@pytest.mark.parametrize("words", ["runs", "inbox", "metrics", "work --once", "prune --older-than 2099-01-01"])
def test_a_list_is_no_error(cli: Cli, approval: str, words: str) -> None:
    done = cli(*words.split())

    assert done.exit_code == 0 and (words in ("metrics", "work --once") or "good.1" in done.stdout)
