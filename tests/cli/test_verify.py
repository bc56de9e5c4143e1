"""`verify` and `export`: a record is proved, or its first bad event is named; a file of it needs no database."""

import json
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import Result

from planner_executor.graph.ledger.seal import VARIABLE

Cli = Callable[..., Result]


def change(statement: str) -> None:
    with closing(sqlite3.connect("planner-executor.db")) as db, db:
        assert db.execute(statement).rowcount == 1


def head_of(result: Result) -> str:
    return result.stdout.splitlines()[1].removeprefix("head ")


def test_a_record_is_verified(cli: Cli, waiting: str) -> None:
    found = cli("verify", waiting)

    assert found.exit_code == 0 and f"run {waiting}: 3 events, 1 artifact" in found.stdout
    assert "the record is unchanged" in found.stdout and "not sealed" in found.stdout


def test_the_first_bad_event_is_named_with_the_exit_code_of_damaged_records(cli: Cli, waiting: str) -> None:
    change("UPDATE ledger_events SET payload = replace(payload, '40 + 2', '40 + 3') WHERE seq = 2")

    found = cli("verify", waiting)

    assert found.exit_code == 4 and "fault: event 2 was changed" in found.stdout
    assert json.loads(cli("verify", waiting, "--json").stdout)["first_bad"] == {"seq": 2, "why": "was changed"}


def test_a_hash_that_was_noted_proves_that_the_record_only_grew(cli: Cli, waiting: str) -> None:
    noted = head_of(cli("verify", waiting))
    cli("resume", waiting, "--approve")

    found = cli("verify", waiting, "--head", noted)

    assert found.exit_code == 0 and "of event 3; " in found.stdout
    assert cli("verify", waiting, "--head", "0" * 64).exit_code == 4


def test_an_exported_file_is_verified_where_there_is_no_database(cli: Cli, waiting: str, folder: Path) -> None:
    cli("resume", waiting, "--approve")
    written = cli("export", waiting, "run.jsonl")
    head = head_of(cli("verify", waiting))
    (folder / "planner-executor.db").unlink()

    found = cli("verify", "run.jsonl", "--head", head)

    assert written.exit_code == 0 and "wrote run.jsonl" in written.stdout
    assert found.exit_code == 0 and head_of(found) == head
    assert stat.S_IMODE(Path("run.jsonl").stat().st_mode) == 0o600
    assert not (folder / "planner-executor.db").exists()


def test_a_changed_file_is_refused(cli: Cli, waiting: str) -> None:
    cli("export", waiting, "run.jsonl")
    content = Path("run.jsonl").read_text()
    Path("run.jsonl").write_text(content.replace("40 + 2", "40 + 3"))
    Path("other.jsonl").write_text(content.replace(":", ": "))

    assert "event 2 was changed" in cli("verify", "run.jsonl").stdout
    assert cli("verify", "other.jsonl").exit_code == 4


def test_a_file_that_is_there_is_not_written_over(cli: Cli, waiting: str) -> None:
    Path("run.jsonl").write_text("mine")

    assert cli("export", waiting, "run.jsonl").exit_code == 2 and Path("run.jsonl").read_text() == "mine"
    assert cli("export", waiting, "no/such/folder/run.jsonl").exit_code == 2


def test_a_damaged_record_is_not_exported(cli: Cli, waiting: str) -> None:
    change("UPDATE ledger_events SET kind = 'decided' WHERE seq = 3")

    assert cli("export", waiting, "run.jsonl").exit_code == 4 and not Path("run.jsonl").exists()


def test_the_key_in_the_environment_seals_runs(
    cli: Cli, latest: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "a secret of many letters")
    cli("run", "add", "--plan", "plan.json")
    run = latest()
    cli("export", run, "run.jsonl")
    assert "sealed with the key" in cli("verify", run).stdout and cli("verify", "run.jsonl").exit_code == 0
    Path("key").write_text("another secret of letters")
    assert cli("verify", run, "--key-file", "key").exit_code == 4
    monkeypatch.delenv(VARIABLE)

    assert "is not available" in cli("verify", run).stdout
    assert cli("resume", run, "--approve").exit_code == 4
    Path("key").write_text("a secret of many letters")
    assert cli("verify", run, "--key-file", "key").exit_code == 0


def test_a_key_that_cannot_be_used_is_a_sentence(cli: Cli, waiting: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "short")

    assert cli("show", waiting).exit_code == 2
    assert cli("verify", waiting, "--key-file", "nowhere").exit_code == 2
