import json
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from planner_executor import Agent
from planner_executor.graph.ledger.owner import new_owner
from planner_executor.graph.testing import LoggedTools, ScriptedModel, step

Cli = Callable[..., Result]


def test_a_whole_database_is_told_with_its_sizes(cli: Cli, waiting: str) -> None:
    result = cli("doctor")

    assert result.exit_code == 0 and "runs 1" in result.stdout and "the file is intact" in result.stdout
    assert "ledger_events" in result.stdout and "checkpoints" in result.stdout


def test_no_database_is_no_trouble(cli: Cli, folder: Path) -> None:
    assert cli("doctor").exit_code == 0
    assert not (folder / "planner-executor.db").exists()


def test_changed_records_are_found_and_the_run_is_named(cli: Cli, waiting: str, folder: Path) -> None:
    with closing(sqlite3.connect(folder / "planner-executor.db")) as connection, connection:
        connection.execute("UPDATE ledger_events SET at = at + 1 WHERE seq = 2")
    connection.close()

    result = cli("doctor")

    assert result.exit_code == 4 and waiting in result.stdout and "backup" in result.stdout


LARGE = {
    "steps": [{"id": "sum", "objective": "o", "tool": "calculator", "args": {"expression": "1"}}],
    "answer": "x" * 2_000_000,
}


@pytest.mark.parametrize(
    "harm", ["DELETE FROM ledger_artifacts", "UPDATE ledger_artifacts SET content = content || ' '"]
)
def test_a_lost_or_changed_artifact_is_found_and_its_run_is_named(cli: Cli, folder: Path, harm: str) -> None:
    (folder / "large.json").write_text(json.dumps(LARGE))
    cli("run", "tell", "--plan", "large.json", "--yes")
    assert cli("doctor").exit_code == 0
    with closing(sqlite3.connect(folder / "planner-executor.db")) as connection, connection:
        connection.execute(harm)
    connection.close()

    result = cli("doctor")

    assert result.exit_code == 4 and "is missing or was changed" in result.stdout and "backup" in result.stdout


def scattered(content: bytes) -> bytes:
    pages = [content[place : place + 4096] for place in range(0, len(content), 4096)]
    return b"".join(b"\xff" * 4096 if place > len(pages) // 2 else page for place, page in enumerate(pages))


@pytest.mark.parametrize(
    "harm",
    [
        lambda content: content[:-1000],
        lambda content: content[: len(content) // 2],
        lambda content: b"no database" + content[11:],
        scattered,
    ],
    ids=["cut in a page", "cut in half", "not a database", "pages overwritten"],
)
def test_a_damaged_file_is_told_of_with_the_next_move(
    cli: Cli, waiting: str, folder: Path, harm: Callable[[bytes], bytes]
) -> None:
    database = folder / "planner-executor.db"
    database.write_bytes(harm(database.read_bytes()))

    result = cli("doctor")

    assert result.exit_code == 4 and "from a backup" in result.stdout + result.stderr


def test_a_locked_database_can_be_examined(cli: Cli, waiting: str, folder: Path) -> None:
    with closing(sqlite3.connect(folder / "planner-executor.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")

        assert cli("doctor").exit_code == 0


def test_a_run_whose_process_died_is_named_with_the_next_move(cli: Cli, waiting: str, folder: Path) -> None:
    with closing(sqlite3.connect(folder / "planner-executor.db")) as connection, connection:
        (owner,) = connection.execute("SELECT owner FROM ledger_leases").fetchone()
        assert owner == ""
        host, boot, *_ = new_owner().split("|")
        connection.execute("UPDATE ledger_leases SET owner = ?", (f"{host}|{boot}|999999999|1|x",))
    connection.close()

    assert f"planner-executor resume {waiting}" in cli("doctor").stdout


def test_pausing_a_run_that_does_not_execute_says_so(cli: Cli, waiting: str) -> None:
    result = cli("pause", waiting)

    assert result.exit_code == 0 and "is not running" in result.stdout


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ("UPDATE ledger_standing SET payload = replace(payload, '\"at_most\":2', '\"at_most\":9')", "was changed"),
        ("DELETE FROM ledger_standing WHERE kind = 'used'", "is missing among those that the standing approval"),
    ],
)
def test_changed_standing_approvals_are_found(cli: Cli, folder: Path, change: str, fault: str) -> None:
    tomorrow = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 86_400))
    tools, wish = LoggedTools(), {"at_most": 2, "until": tomorrow}
    policy = {"approval": "never", "tools": {"pay": {"verdict": "ask"}}}
    options: dict[str, Any] = {"tools": [tools.tool("pay", effect="external", trusted=True)], "policy": policy}
    with Agent.open(folder / "planner-executor.db", planner=ScriptedModel([]), **options) as agent:
        run = agent.start("g", plan={"steps": [step("a", "pay"), step("b", "pay", after=["a"])]})
        agent.resume(run.id, {"type": "approve", "standing": wish})
    assert cli("doctor").exit_code == 0 and len(tools.calls) == 2
    with closing(sqlite3.connect(folder / "planner-executor.db")) as connection, connection:
        connection.execute(change)
    connection.close()

    result = cli("doctor")

    assert result.exit_code == 4 and fault in result.stdout
