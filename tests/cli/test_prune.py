"""`prune`: what goes, what stays and why, and what `show`, `verify` and `doctor` say afterwards."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import Result

Cli = Callable[..., Result]


@pytest.fixture
def ended(cli: Cli) -> str:
    Path("answer.json").write_text('{"steps": [], "answer": 42}')
    cli("run", "ask", "--plan", "answer.json")
    return str(cli("runs", "--json").stdout.split('"id": "')[1].split('"')[0])


def test_a_thread_that_ended_goes_and_one_that_waits_stays(cli: Cli, ended: str, waiting: str) -> None:
    ahead = cli("prune", "--older-than", "0s", "--dry-run")
    done = cli("prune", "--older-than", "0s", "--export", "out")

    assert (ahead.exit_code, done.exit_code) == (0, 0)
    assert "would prune 1 thread with 1 run\n" in ahead.stdout and "pruned 1 thread with 1 run\n" in done.stdout
    assert "kept 1 thread: 1 waiting for a decision" in done.stdout
    assert f"run {waiting} waits for a decision" in " ".join(done.stdout.split())
    (file,) = Path("out").iterdir()
    head = cli("verify", str(file)).stdout.split("head ")[1].split()[0]
    shown, verified = cli("show", ended), cli("verify", ended)
    assert shown.exit_code == 2 and f"{ended} was pruned on" in shown.stderr
    assert verified.exit_code == 0 and head in verified.stdout and "the tombstones are unchanged" in verified.stdout
    assert "pruned: 1 tombstone of 1 run" in cli("doctor").stdout


def test_a_tombstone_that_was_changed_makes_verify_and_doctor_fail(cli: Cli, ended: str) -> None:
    cli("prune", "--older-than", "0s")
    with closing(sqlite3.connect("planner-executor.db")) as db, db:
        db.execute("UPDATE ledger_tombstones SET person = 'os:eve'")

    assert cli("verify", ended).exit_code == cli("doctor").exit_code == 4
    assert "tombstone 1 was changed" in cli("doctor").stdout


@pytest.mark.parametrize("given", [("--older-than", "long"), ("--older-than", "1d", "--status", "waiting"), ()])
def test_what_cannot_be_meant_is_a_sentence(cli: Cli, ended: str, given: tuple[str, ...]) -> None:
    assert cli("prune", *given).exit_code == 2
    assert cli("show", ended).exit_code == 0
