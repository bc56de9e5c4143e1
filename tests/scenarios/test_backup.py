"""A backup made while runs go on is a whole database, and what waited in it goes on after it was restored."""

import asyncio
import errno
import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from pytest import MonkeyPatch
from typer.testing import CliRunner, Result

from planner_executor import Agent
from planner_executor.graph.cli import app
from planner_executor.graph.errors import InputError
from planner_executor.graph.ledger.drivers import open_ledger
from planner_executor.graph.ledger.sqlite.backup import back_up
from planner_executor.graph.ledger.sqlite.ledger import SqliteLedger
from planner_executor.graph.testing import LoggedTools, ScriptedModel, drafted, step

PLAN = {"steps": [step("pay", "pay", amount=40)], "answer": "{pay_result}"}


@pytest.fixture
def agent(tmp_path: Path, tools: LoggedTools) -> Iterator[Agent]:
    with opened(tmp_path / "runs.db", tools) as agent:
        yield agent


def opened(path: Path, tools: LoggedTools) -> Agent:
    own = [tools.tool("pay", lambda **_: "receipt 17", effect="external")]
    return Agent.open(path, planner=ScriptedModel([]), tools=own)


def backup(database: Path, file: Path) -> Result:
    return CliRunner().invoke(app, ["backup", str(file), "--db", str(database)])


def test_a_run_that_waits_in_a_backup_goes_on_from_the_restored_file(
    agent: Agent, tools: LoggedTools, tmp_path: Path
) -> None:
    waits = agent.start("pay", plan=PLAN, thread="t")
    copy = tmp_path / "copy.db"
    done = backup(tmp_path / "runs.db", copy)
    after = agent.resume("t", "approve")
    later = agent.verify("t").head

    assert done.exit_code == 0 and stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith("copy")] == ["copy.db"]
    with opened(copy, tools) as restored:
        assert (after.status, restored.show("t").status) == ("succeeded", "waiting")
        assert not restored.verify("t", head=later).is_whole, "what came after the backup is not in it"
        run = restored.resume(waits.id, "approve")
        assert (run.status, run.answer) == ("succeeded", "receipt 17") and restored.verify("t").is_whole
    assert len(tools.named("pay")) == 2, "the restored record does not know of the first payment"


async def test_a_backup_of_a_database_in_use_is_one_moment_of_it(tmp_path: Path) -> None:
    started = drafted("run_started", {"goal": "g" * 500, "constraints": []})

    ledger, written = SqliteLedger(tmp_path / "runs.db"), []
    await ledger.open_run("t", [started])

    async def write() -> None:
        while True:
            await ledger.open_run("t", [started])

    writing = asyncio.create_task(write())
    for n in range(3):
        await ledger.back_up(tmp_path / f"{n}.db")
        copy = SqliteLedger(tmp_path / f"{n}.db")
        runs = await copy.runs()
        assert [run.n for run in runs] == [*range(len(runs), 0, -1)] and await copy.misindexed() == []
        assert (await copy.events(runs[0]))[0].kind == "run_started" and (await copy.health()).damage == ()
        written.append(len(runs))
        await copy.close()
    writing.cancel()
    await asyncio.wait([writing])
    await ledger.close()
    assert written[0] >= 1


def test_a_file_that_is_there_is_not_replaced(agent: Agent, tmp_path: Path) -> None:
    agent.start("pay", plan=PLAN, thread="t")
    (tmp_path / "copy.db").write_text("mine")

    refused = backup(tmp_path / "runs.db", tmp_path / "copy.db")
    nowhere = backup(tmp_path / "runs.db", tmp_path / "none" / "copy.db")
    assert (refused.exit_code, nowhere.exit_code) == (2, 2) and "is there already" in refused.stderr
    assert (tmp_path / "copy.db").read_text() == "mine" and not (tmp_path / "copy.db.checking").exists()


@pytest.mark.parametrize("name", [".", "..", "/"])
def test_a_folder_is_no_file_for_a_backup(agent: Agent, tmp_path: Path, name: str) -> None:
    agent.start("pay", plan=PLAN, thread="t")

    refused = CliRunner().invoke(app, ["backup", name, "--db", str(tmp_path / "runs.db")])

    assert refused.exit_code == 2 and "is there already" in refused.stderr


def test_a_full_disk_is_said_of_the_copy_and_not_of_the_database(tmp_path: Path, monkeypatch: MonkeyPatch) -> None:
    def on_a_full_disk(*_: str) -> None:
        with closing(sqlite3.connect(":memory:")) as db:
            db.execute("PRAGMA max_page_count = 1")
            db.execute("CREATE TABLE t (c)")

    monkeypatch.setattr("planner_executor.graph.ledger.sqlite.backup.copy_to", on_a_full_disk)
    with pytest.raises(InputError, match=r"copy\.db: the disk is full"):
        back_up("runs.db", tmp_path / "copy.db")


def test_a_file_system_without_links_takes_a_backup_and_replaces_no_file(
    agent: Agent, tmp_path: Path, monkeypatch: MonkeyPatch
) -> None:
    def without(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    agent.start("pay", plan=PLAN, thread="t")
    monkeypatch.setattr(os, "link", without)
    back_up(str(tmp_path / "runs.db"), tmp_path / "copy.db")
    assert stat.S_IMODE((tmp_path / "copy.db").stat().st_mode) == 0o600
    assert sorted(file.name for file in tmp_path.iterdir() if file.name.startswith("copy")) == ["copy.db"]
    monkeypatch.setattr(Path, "exists", lambda _: False)  # it appears between the look and the renaming
    with pytest.raises(InputError, match="is there already"):
        back_up(str(tmp_path / "runs.db"), tmp_path / "copy.db")


def test_a_damaged_database_makes_no_backup(agent: Agent, tmp_path: Path) -> None:
    agent.start("pay", plan=PLAN, thread="t")
    agent.close()
    path = tmp_path / "runs.db"
    with closing(sqlite3.connect(path)) as db:
        (page,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'ledger_index'").fetchone()
    content = bytearray(path.read_bytes())
    content[(page - 1) * 8192 : (page - 1) * 8192 + 64] = b"\xff" * 64
    path.write_bytes(content)

    assert backup(path, tmp_path / "copy.db").exit_code == 4 and not (tmp_path / "copy.db").exists()


async def test_a_ledger_without_a_file_names_another_way() -> None:
    with pytest.raises(InputError, match="export its runs"):
        await open_ledger(":memory:").back_up(Path("copy.db"))
