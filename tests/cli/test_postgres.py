"""Commands on a PostgreSQL database, and threads that are copied to and from it."""

from pathlib import Path
from typing import Any

import pytest
from postgres_server import new_schema

from planner_executor import Agent

pytestmark = pytest.mark.e2e

SECRET = "s3cret"


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> str:
    found = new_schema().replace("postgres:@", f"postgres:{SECRET}@")  # the server trusts everybody on this machine
    monkeypatch.setenv("PLANNER_EXECUTOR_DB", found)
    return found


def latest(database: str) -> str:
    with Agent(database) as agent:
        return agent.list()[0].id


def test_commands_take_the_address_and_do_not_show_its_password(cli: Any, address: str) -> None:
    done = cli("run", "Compute 40 + 2", "--yes")
    assert done.exit_code == 0, done.output
    said, run = done.output, latest(address)
    for command in (["runs"], ["show", run], ["verify", run], ["doctor"], ["doctor", "--reindex"], ["migrate"]):
        done = cli(*command)
        assert done.exit_code == 0, done.output
        said += done.output
    said += cli("show", "nobody").output
    assert run in said and "the database is intact" in said and "needs no migration" in said
    assert SECRET not in said and ("postgresql://postgres@" in said)


def test_a_server_that_does_not_answer_is_one_sentence_without_the_password(cli: Any, tmp_path: Any) -> None:
    done = cli("runs", "--db", f"postgresql://ada:{SECRET}@/runs?host={tmp_path}")

    assert done.exit_code == 4 and "start the server" in done.output and SECRET not in done.output


def test_threads_are_copied_to_a_file_and_back(cli: Any, address: str) -> None:
    assert cli("run", "Compute 40 + 2", "--yes").exit_code == 0
    ended = latest(address)
    assert cli("run", "Compute 40 + 3").exit_code == 3
    waits = latest(address)
    cli("export", ended, "before.jsonl")

    done = cli("copy", "--all", "--to", "copy.db")
    assert done.exit_code == 0 and f"copied run {ended}" in done.output
    assert f"one of the two databases only: {waits}" in " ".join(done.output.split())
    assert cli("copy", ended, "--db", "copy.db", "--to", new_schema()).exit_code == 0
    assert cli("copy", ended, "--to", "copy.db").exit_code == 2
    assert cli("copy", "--to", "copy.db").exit_code == 2

    assert cli("export", ended, "after.jsonl", "--db", "copy.db").exit_code == 0
    assert Path("before.jsonl").read_bytes() == Path("after.jsonl").read_bytes()
    assert cli("resume", waits, "--approve", "--db", "copy.db").exit_code == 0
