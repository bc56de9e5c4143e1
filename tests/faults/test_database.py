"""A database that is locked, full, read-only, cut short or changed: a typed error before the next effect."""

import os
import resource
import signal
import sqlite3
import stat
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import ormsgpack
import pytest
from counted_waits import CountedWaits
from langchain_core.tools import BaseTool, StructuredTool

from planner_executor import Agent
from planner_executor.graph.errors import LedgerCorruptError, LedgerError, LedgerUnavailableError
from planner_executor.graph.ledger.packed_checkpoint import unpacked_cell
from planner_executor.graph.ledger.sqlite import busy_timeout
from planner_executor.graph.testing import ScriptedModel, step

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")]

ANY = {"type": "object", "properties": {}, "additionalProperties": True}
LATEST_CHECKPOINT = "DELETE FROM checkpoints WHERE checkpoint_id = (SELECT max(checkpoint_id) FROM checkpoints)"
PLAN = {"steps": [step("a", "act", name="a"), step("b", "act", name="b", after=["a"])]}


class Acts:
    """A tool that notes its effects, and what happens to the database while its first call is under way."""

    def __init__(self, trouble: Callable[[], None] = lambda: None) -> None:
        self.effects: list[str] = []
        self._trouble = trouble

    def tool(self, **metadata: Any) -> BaseTool:
        def act(name: str) -> str:
            self.effects.append(name)
            if self.effects == ["a"]:
                self._trouble()
            return f"did {name}"

        return StructuredTool(name="act", description="act", args_schema=ANY, func=act, metadata=metadata)


def opened(database: Path, acts: Acts, **metadata: Any) -> Any:
    return Agent.open(database, planner=ScriptedModel([PLAN]), tools=[acts.tool(**(metadata or {"effect": "read"}))])


def waiting(database: Path, **metadata: Any) -> None:
    with opened(database, Acts(), **metadata) as agent:
        agent.start("g", thread="t")


def goes_on(database: Path, decision: Any = None) -> None:
    acts = Acts()
    with opened(database, acts) as agent:
        assert agent.resume("t", decision).status == "succeeded"
    assert acts.effects == ["a", "b"]


def stopped_after_the_first_effect(database: Path, **metadata: Any) -> None:
    with closing(sqlite3.connect(database, isolation_level=None, check_same_thread=False)) as other:
        acts = Acts(trouble=lambda: other.execute("BEGIN IMMEDIATE") and None)
        with pytest.raises(LedgerUnavailableError), opened(database, acts, **metadata) as agent:
            agent.resume("t", "approve")


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait a moment only for a file that stays locked."""
    monkeypatch.setattr(busy_timeout, "BUSY_S", 0.2)


def test_a_locked_database_stops_the_run_before_the_next_effect_after_one_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(busy_timeout, "BUSY_S", 1.0)
    database = tmp_path / "runs.db"
    waits = CountedWaits.of(database)
    waiting(database)
    other = sqlite3.connect(database, isolation_level=None, check_same_thread=False)
    acts = Acts(trouble=lambda: other.execute("BEGIN IMMEDIATE") and None)

    with opened(database, acts) as agent:
        with pytest.raises(LedgerUnavailableError) as caught:
            agent.resume("t", "approve")
        assert agent.show("t").step_status == {"a": "interrupted", "b": "pending"}
        assert waits.in_vain_s == [1.0]
        other.close()
        waits.recover()

        assert acts.effects == ["a"]
        assert str(database) in str(caught.value) and "try again when it is done" in str(caught.value)
        assert agent.resume("t").status == "succeeded"  # in the same process, which waits for no lease to run out
    assert acts.effects == ["a", "a", "b"]


def test_a_lock_that_others_hold_for_a_moment_is_waited_out(tmp_path: Path) -> None:
    database = tmp_path / "runs.db"
    waiting(database)
    with closing(sqlite3.connect(database, isolation_level=None, check_same_thread=False)) as other:
        release = threading.Timer(1, lambda: other.execute("ROLLBACK"))

        def hold() -> None:
            other.execute("BEGIN IMMEDIATE")
            release.start()

        acts = Acts(trouble=hold)
        with opened(database, acts) as agent:
            assert agent.resume("t", "approve").status == "succeeded"
        release.join()

    assert acts.effects == ["a", "b"]


@pytest.mark.usefixtures("impatient")
def test_an_effect_whose_outcome_could_not_be_written_is_asked_about(tmp_path: Path) -> None:
    database = tmp_path / "runs.db"
    waiting(database, effect="external")
    stopped_after_the_first_effect(database, effect="external")

    with opened(database, Acts(), effect="external") as agent:
        request = agent.resume("t").request

    assert request["action_requests"][0]["name"] == "settle_effect"


def test_a_full_disk_stops_the_run_before_the_next_effect(tmp_path: Path) -> None:
    database = tmp_path / "runs.db"
    waiting(database)
    pid = os.fork()
    if pid == 0:
        os._exit(_with_a_full_disk(database))
    status = os.waitpid(pid, 0)[1]

    assert os.waitstatus_to_exitcode(status) == 0
    goes_on(database, "approve")


def _with_a_full_disk(database: Path) -> int:
    def fill() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))

    acts = Acts()
    try:
        with opened(database, acts) as agent:
            fill()
            agent.resume("t", "approve")
    except LedgerError:
        return 0 if acts.effects == [] else 2
    return 3


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    mount = tmp_path / "disk"
    mount.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", mount], capture_output=True, check=False)
    if made.returncode:
        pytest.skip("mounting a small file system needs root")
    yield mount
    subprocess.run(["umount", "-l", mount], check=True)


def test_a_read_only_file_system_is_refused_with_the_next_move(small_disk: Path) -> None:
    waiting(small_disk / "runs.db")
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    acts = Acts()

    with pytest.raises(LedgerError), opened(small_disk / "runs.db", acts) as agent:
        agent.resume("t", "approve")

    assert acts.effects == []
    subprocess.run(["mount", "-o", "remount,rw", small_disk], check=True)
    with opened(small_disk / "runs.db", acts) as agent:
        assert agent.resume("t", "approve").status == "succeeded"


def test_a_disk_that_fills_up_between_two_effects_stops_before_the_second(small_disk: Path) -> None:
    database = small_disk / "runs.db"
    waiting(database)
    ballast = small_disk / "ballast"

    def fill() -> None:
        with ballast.open("wb", buffering=0) as file:
            try:
                while file.write(b"x" * 4096):
                    pass
            except OSError:
                return

    acts = Acts(trouble=fill)
    with pytest.raises(LedgerError), opened(database, acts) as agent:
        agent.resume("t", "approve")

    assert acts.effects == ["a"]
    ballast.unlink()
    goes_on(database)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE ledger_events SET payload = replace(payload, 'do b', 'do c') WHERE kind = 'plan_revised'",
        "UPDATE ledger_events SET at = at + 1 WHERE seq = 2",
        "DELETE FROM ledger_events WHERE kind = 'review_requested'",
        "UPDATE ledger_events SET kind = 'decided' WHERE kind = 'review_requested'",
    ],
)
def test_a_changed_ledger_is_refused_before_any_effect(tmp_path: Path, change: str) -> None:
    database = tmp_path / "runs.db"
    waiting(database)
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute(change)
    connection.close()
    acts = Acts()

    with pytest.raises(LedgerCorruptError), opened(database, acts) as agent:
        agent.resume("t", "approve")

    assert acts.effects == []


LAST = "(SELECT max(seq) FROM ledger_events)"


@pytest.mark.parametrize("which", ["seq = 1", "seq = 3", f"seq = {LAST}", "seq > 2", "seq > 0"])
def test_missing_rows_are_refused_and_the_run_goes_on_once_they_are_back(tmp_path: Path, which: str) -> None:
    database, acts = tmp_path / "runs.db", Acts()
    waiting(database)
    with closing(sqlite3.connect(database)) as connection, connection:
        lost = connection.execute(f"SELECT * FROM ledger_events WHERE {which}").fetchall()
        connection.execute(f"DELETE FROM ledger_events WHERE {which}")

    with opened(database, acts) as agent:
        with pytest.raises(LedgerCorruptError) as caught:
            agent.resume("t", "approve")
        assert caught.value.run == "t.1" and caught.value.seq == lost[0][1] and acts.effects == []
        with closing(sqlite3.connect(database)) as connection, connection:
            connection.executemany(f"INSERT INTO ledger_events VALUES ({', '.join('?' * len(lost[0]))})", lost)
        assert agent.resume("t", "approve").status == "succeeded"


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("when", ["waiting", "in the middle"])
@pytest.mark.parametrize(
    "lost",
    ["DELETE FROM checkpoints", "DELETE FROM writes", "DROP TABLE checkpoints", LATEST_CHECKPOINT],
)
def test_a_run_goes_on_without_its_checkpoints(tmp_path: Path, when: str, lost: str) -> None:
    database, acts = tmp_path / "runs.db", Acts()
    waiting(database)
    if when == "in the middle":
        stopped_after_the_first_effect(database)
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute(lost)

    with opened(database, acts) as agent:
        run = agent.resume("t", None if when == "in the middle" else "approve")

    assert run.status == "succeeded" and acts.effects == ["a", "b"]


@pytest.mark.parametrize(
    "harm",
    [
        "UPDATE checkpoints SET checkpoint = x'00'",
        "UPDATE checkpoints SET checkpoint = x'c1'",
        "UPDATE checkpoints SET type = 'unknown'",
        "UPDATE checkpoints SET metadata = x'00'",
        "UPDATE writes SET value = x'c1'",
        "UPDATE ledger_leases SET token = 'a'",
        "UPDATE ledger_runs SET events = 'a'",
        "DROP TABLE ledger_events",
    ],
)
def test_what_cannot_be_read_is_a_typed_error_with_the_next_move(tmp_path: Path, harm: str) -> None:
    database, acts = tmp_path / "runs.db", Acts()
    waiting(database)
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute(harm)

    with opened(database, acts) as agent, pytest.raises(LedgerError) as caught:
        agent.resume("t", "approve")

    assert acts.effects == [] and caught.value.database == str(database) and "backup" in str(caught.value)


def test_a_folder_that_is_missing_is_told_and_the_run_goes_on_once_it_is_back(tmp_path: Path) -> None:
    folder, away, acts = tmp_path / "runs", tmp_path / "away", Acts()
    folder.mkdir()
    waiting(folder / "runs.db")
    folder.rename(away)

    with pytest.raises(LedgerUnavailableError) as caught, opened(folder / "runs.db", acts) as agent:
        agent.resume("t", "approve")

    assert str(folder / "runs.db") in str(caught.value) and acts.effects == [] and not folder.exists()
    away.rename(folder)
    goes_on(folder / "runs.db", "approve")


def test_a_folder_taken_away_between_two_effects_stops_the_run_before_the_second(tmp_path: Path) -> None:
    folder, away = tmp_path / "runs", tmp_path / "away"
    folder.mkdir()
    waiting(folder / "runs.db")
    acts = Acts(trouble=lambda: folder.rename(away) and None)

    with opened(folder / "runs.db", acts) as agent:
        with pytest.raises(LedgerUnavailableError) as caught:
            agent.resume("t", "approve")
        assert acts.effects == ["a"] and "put it back" in str(caught.value)
        away.rename(folder)
        assert agent.resume("t").status == "succeeded"
    assert acts.effects == ["a", "a", "b"]


def test_all_files_belong_to_their_owner_alone_whatever_the_umask(tmp_path: Path) -> None:
    database, modes = tmp_path / "runs.db", {}

    def look() -> None:
        modes.update({file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()})

    before = os.umask(0)
    try:
        waiting(database)
        with opened(database, Acts(trouble=look)) as agent:
            agent.resume("t", "approve")
    finally:
        os.umask(before)

    assert modes == {"runs.db": 0o600, "runs.db-wal": 0o600, "runs.db-shm": 0o600}


@pytest.mark.parametrize("harm", ["truncated", "overwritten"])
def test_a_damaged_file_is_refused_before_any_effect(tmp_path: Path, harm: str) -> None:
    database = tmp_path / "runs.db"
    waiting(database)
    content = database.read_bytes()
    database.write_bytes(content[: len(content) // 2] if harm == "truncated" else b"no database" + content[11:])
    acts = Acts()

    with pytest.raises(LedgerError), opened(database, acts) as agent:
        agent.resume("t", "approve")

    assert acts.effects == []


def test_a_planted_checkpoint_row_runs_no_code(tmp_path: Path) -> None:
    database, trap = tmp_path / "runs.db", tmp_path / "trap"
    waiting(database)
    call = ormsgpack.packb(["os", "system", f"touch {trap}"])
    planted = ormsgpack.packb({"planted": ormsgpack.Ext(0, call)})
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE writes SET type = 'msgpack', value = ?", (planted,))
        query = "SELECT type, checkpoint FROM checkpoints ORDER BY checkpoint_id DESC LIMIT 1"
        plain = unpacked_cell(*connection.execute(query).fetchone())
        values = ormsgpack.unpackb(plain, ext_hook=lambda code, data: None, option=ormsgpack.OPT_NON_STR_KEYS)
        values["channel_values"]["goal"] = ormsgpack.Ext(0, call)
        connection.execute("UPDATE checkpoints SET type = 'msgpack', checkpoint = ?", (ormsgpack.packb(values),))
    connection.close()
    acts = Acts()

    with opened(database, acts) as agent:
        try:
            agent.resume("t", "approve")
        except Exception as error:  # noqa: BLE001  (any refusal will do, as long as nothing runs)
            assert not trap.exists(), error

    assert not trap.exists()
