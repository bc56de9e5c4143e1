import sqlite3
from collections.abc import Callable
from pathlib import Path

from typer.testing import Result

from graph.ledger.lease import new_owner

Cli = Callable[..., Result]


def test_a_whole_database_is_told_with_its_sizes(cli: Cli, waiting: str) -> None:
    result = cli("doctor")

    assert result.exit_code == 0 and "runs 1" in result.stdout and "the file is whole" in result.stdout
    assert "ledger_events" in result.stdout and "checkpoints" in result.stdout


def test_no_database_is_no_trouble(cli: Cli, folder: Path) -> None:
    assert cli("doctor").exit_code == 0
    assert not (folder / "planner-executor.db").exists()


def test_changed_records_are_found_and_the_run_is_named(cli: Cli, waiting: str, folder: Path) -> None:
    with sqlite3.connect(folder / "planner-executor.db") as connection:
        connection.execute("UPDATE ledger_events SET at = at + 1 WHERE seq = 2")
    connection.close()

    result = cli("doctor")

    assert result.exit_code == 4 and waiting in result.stdout and "backup" in result.stdout


def test_a_run_whose_process_died_is_named_with_the_next_move(cli: Cli, waiting: str, folder: Path) -> None:
    with sqlite3.connect(folder / "planner-executor.db") as connection:
        (owner,) = connection.execute("SELECT owner FROM ledger_leases").fetchone()
        assert owner == ""
        host, boot, *_ = new_owner().split("|")
        connection.execute("UPDATE ledger_leases SET owner = ?", (f"{host}|{boot}|999999999|1|x",))
    connection.close()

    assert f"planner-executor resume {waiting}" in cli("doctor").stdout


def test_pausing_a_run_that_does_not_execute_says_so(cli: Cli, waiting: str) -> None:
    result = cli("pause", waiting)

    assert result.exit_code == 0 and "does not execute now" in result.stdout
