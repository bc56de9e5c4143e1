"""The audit ledger on real SQLite files: append-only, chained, private, shared by several connections."""

import asyncio
import sqlite3
import stat
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

import pytest
from warm_process import run_warm

from planner_executor.graph.errors import LedgerCorruptError, LedgerUnavailableError
from planner_executor.graph.ledger.sqlite import busy_timeout
from planner_executor.graph.ledger.sqlite.ledger import SqliteLedger
from planner_executor.graph.record.events import Draft, Event
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.values import keep
from planner_executor.graph.testing import drafted

Result = TypeVar("Result")
STARTED = drafted("run_started", {"goal": "g"})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"


def use(path: Path | str, work: Callable[[SqliteLedger], Awaitable[Result]]) -> Result:
    """Open the ledger, do the work on an event loop, and close it."""

    async def opened() -> Result:
        ledger = SqliteLedger(path)
        try:
            return await work(ledger)
        finally:
            await ledger.close()

    return asyncio.run(opened())


def written(path: Path, *drafts: Draft, thread: str = "t") -> RunKey:
    """Write a run of its own."""
    return use(path, lambda ledger: ledger.open_run(thread, [STARTED, *drafts]))


def events(path: Path, run: RunKey) -> list[Event]:
    return use(path, lambda ledger: ledger.events(run))


async def write(ledger: SqliteLedger, run: RunKey, drafts: Sequence[Draft], **more: Any) -> int:
    """Own the run for one append."""
    async with ledger.owned(run) as lease:
        return await ledger.append(lease, drafts, **more)


def tamper(path: Path, statement: str, *values: Any) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        assert db.execute(statement, values).rowcount > 0


def note(number: int = 0, **payload: Any) -> Draft:
    return drafted("paused", {"number": number, **payload})


@pytest.fixture(params=["file", "memory"])
def place(request: pytest.FixtureRequest, path: Path) -> Path | str:
    return path if request.param == "file" else ":memory:"


def test_the_first_events_learn_who_their_run_is(path: Path) -> None:
    run = written(path)

    first = events(path, run)[0].payload
    assert (first["goal"], first["thread"], first["n"]) == ("g", "t", 1)


@pytest.mark.parametrize("thread", ["", "a.1", "a b", "é", "'; DROP TABLE ledger_events; --", "a\0b", "x" * 10_000])
def test_a_thread_may_be_called_anything(path: Path, thread: str) -> None:
    run = written(path, thread=thread)

    assert events(path, run)[0].payload["thread"] == thread
    assert use(path, lambda ledger: ledger.last_run(thread)) == run


@pytest.mark.slow
def test_what_was_written_is_there_in_another_process(path: Path) -> None:
    code = f"""
import asyncio
from planner_executor.graph.ledger.sqlite.ledger import SqliteLedger
from planner_executor.graph.testing import drafted
async def main():
    ledger = SqliteLedger({str(path)!r})
    run = await ledger.open_run("t", [drafted("run_started", {{"goal": "from a child"}})])
    async with ledger.owned(run) as lease:
        await ledger.append(lease, [drafted("paused", {{}})])
    # no close: the process just ends
asyncio.run(main())
"""
    assert run_warm(["-c", code]).returncode == 0

    assert [event.kind for event in events(path, RunKey("t", 1))] == ["run_started", "paused"]


def test_a_new_file_may_be_opened_by_several_at_once(tmp_path: Path) -> None:
    async def work(path: Path) -> int:
        ledgers = [SqliteLedger(path) for _ in range(6)]
        keys = await asyncio.gather(*(ledger.open_run("t", [STARTED]) for ledger in ledgers))
        await asyncio.gather(*(ledger.close() for ledger in ledgers))
        return len(set(keys))

    assert [asyncio.run(work(tmp_path / f"{number}.db")) for number in range(20)] == [6] * 20


CHANGES = [
    ("kind", "decided"),
    ("step", "step_9"),
    ("step", None),
    ("at", 5.0),
    ("at", "never"),
    ("payload", '{"number":9}'),
    ("payload", '{"number": 1}'),
    ("payload", b"{}"),
    ("salt", b"0" * 16),
    ("salt", "text"),
    ("digest", b"0" * 32),
    ("digest", "text"),
    ("link", b"0" * 32),
    ("link", "text"),
    ("seq", 9),
    ("seq", -1),
    ("run", 9),
]


@pytest.mark.parametrize(("column", "value"), CHANGES)
@pytest.mark.parametrize("seq", [1, 2, 3])
def test_any_change_of_any_column_of_any_event_is_found(path: Path, column: str, value: Any, seq: int) -> None:
    run = written(path, drafted("paused", {"number": 1}, "step_1"), drafted("paused", {"number": 2}, "step_2"))
    if (column, value) == ("step", None) and seq == 1:
        value = "step_1"  # it has none

    tamper(path, f"UPDATE ledger_events SET {column} = ? WHERE seq = ?", value, seq)

    with pytest.raises(LedgerCorruptError) as caught:
        events(path, run)
    assert caught.value.run == "t.1"
    assert caught.value.seq <= 3


def test_the_error_names_the_first_event_that_is_not_what_was_written(path: Path) -> None:
    run = written(path, note(1), note(2), note(3))
    tamper(path, "UPDATE ledger_events SET payload = '{}' WHERE seq IN (2, 4)")

    with pytest.raises(LedgerCorruptError) as caught:
        events(path, run)

    assert caught.value.seq == 2


@pytest.mark.parametrize("seq", [1, 2, 3, 4])
def test_a_removed_event_is_found_and_named(path: Path, seq: int) -> None:
    run = written(path, note(1), note(2), note(3))
    tamper(path, "DELETE FROM ledger_events WHERE seq = ?", seq)

    with pytest.raises(LedgerCorruptError, match="is missing") as caught:
        events(path, run)

    assert caught.value.seq == seq


@pytest.mark.parametrize("left", [0, 1, 3])
def test_a_run_cut_off_at_its_end_is_found(path: Path, left: int) -> None:
    run = written(path, note(1), note(2), note(3))
    tamper(path, "DELETE FROM ledger_events WHERE seq > ?", left)

    with pytest.raises(LedgerCorruptError, match="is missing") as caught:
        events(path, run)

    assert (caught.value.run, caught.value.seq) == ("t.1", left + 1)


def test_no_later_event_hides_that_the_last_ones_are_missing(path: Path) -> None:
    run = written(path, note(1), note(2))
    tamper(path, "DELETE FROM ledger_events WHERE seq > 1")

    for _ in range(2):
        with pytest.raises(LedgerCorruptError) as caught:
            use(path, lambda ledger: write(ledger, run, [note(3), note(4)]))
        assert caught.value.seq == 2
    with pytest.raises(LedgerCorruptError):
        events(path, run)


def test_a_run_that_lost_its_events_leaves_the_others_readable(path: Path) -> None:
    run, other = written(path, note(1)), written(path, note(1), thread="other")
    tamper(path, "DELETE FROM ledger_events WHERE run = 1")

    assert [event.seq for event in events(path, other)] == [1, 2]
    with pytest.raises(LedgerCorruptError):
        events(path, run)


@pytest.mark.parametrize("seq", [1, 2, 3])
def test_a_removed_event_is_found_even_if_the_rest_closes_the_gap(path: Path, seq: int) -> None:
    run = written(path, note(1), note(2), note(3))
    tamper(path, "DELETE FROM ledger_events WHERE seq = ?", seq)
    tamper(path, "UPDATE ledger_events SET seq = seq - 1 WHERE seq > ?", seq)

    with pytest.raises(LedgerCorruptError):
        events(path, run)


@pytest.mark.parametrize(("one", "other"), [(1, 2), (2, 3), (2, 4)])
def test_two_events_that_changed_places_are_found(path: Path, one: int, other: int) -> None:
    run = written(path, note(1), note(2), note(3))
    for before, after in ((one, 99), (other, one), (99, other)):
        tamper(path, "UPDATE ledger_events SET seq = ? WHERE seq = ?", after, before)

    with pytest.raises(LedgerCorruptError):
        events(path, run)


def test_events_of_another_run_cannot_stand_in(path: Path) -> None:
    run, other = written(path, note(1)), written(path, note(1))
    tamper(path, "DELETE FROM ledger_events WHERE run = 1")
    tamper(path, "UPDATE ledger_events SET run = 1 WHERE run = 2")

    with pytest.raises(LedgerCorruptError):
        events(path, run)
    assert other.n == 2


def test_a_payload_cannot_be_swapped_with_its_own_salt_and_digest(path: Path) -> None:
    run = written(path, note(1), note(2))
    tamper(
        path,
        "UPDATE ledger_events SET (payload, salt, digest) = "
        "(SELECT payload, salt, digest FROM ledger_events WHERE seq = 3) WHERE seq = 2",
    )

    with pytest.raises(LedgerCorruptError):
        events(path, run)


def test_the_same_event_twice_has_two_digests(path: Path) -> None:
    written(path, note(1), note(1))

    with closing(sqlite3.connect(path)) as db:
        digests = db.execute("SELECT DISTINCT digest FROM ledger_events WHERE seq > 1").fetchall()

    assert len(digests) == 2


@pytest.mark.parametrize("content", ['["other"]', b"bytes", ""])
def test_a_changed_artifact_is_found(path: Path, content: Any) -> None:
    kept = keep("x" * 9000)
    assert kept.artifact is not None
    artifact = kept.artifact

    async def store(ledger: SqliteLedger) -> None:
        await write(ledger, await ledger.open_run("t", [STARTED]), [note()], artifacts=[kept])

    use(path, store)
    tamper(path, "UPDATE ledger_artifacts SET content = ?", content)

    with pytest.raises(LedgerCorruptError):
        use(path, lambda ledger: ledger.artifact(artifact.id))


def test_the_files_can_be_read_by_their_owner_only(path: Path) -> None:
    async def work(ledger: SqliteLedger) -> dict[str, int]:
        await write(ledger, await ledger.open_run("t", [STARTED]), [note()])
        return {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}

    assert use(path, work) == {"runs.db": 0o600, "runs.db-wal": 0o600, "runs.db-shm": 0o600}


def test_a_file_that_is_there_keeps_its_other_tables(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE checkpoints (x)")
        db.execute("INSERT INTO checkpoints VALUES (1)")

    written(path)

    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT x FROM checkpoints").fetchall() == [(1,)]


def missing_folder(path: Path) -> Path:
    return path.parent / "gone" / "runs.db"


def folder(path: Path) -> Path:
    return path.parent


def no_database(path: Path) -> Path:
    path.write_text("these are notes, no database " * 100)
    return path


def file_as_folder(path: Path) -> Path:
    path.write_text("x")
    return path / "runs.db"


@pytest.mark.parametrize("make", [missing_folder, folder, no_database, file_as_folder])
def test_a_file_that_cannot_be_used_is_a_typed_error_each_time(path: Path, make: Callable[[Path], Path]) -> None:
    odd = make(path)

    async def work(ledger: SqliteLedger) -> None:
        for _ in range(2):
            with pytest.raises(LedgerUnavailableError) as caught:
                await ledger.runs()
            assert caught.value.database == str(odd)

    use(odd, work)


def test_a_file_that_is_no_database_is_left_as_it_is(path: Path) -> None:
    before = no_database(path).read_bytes()

    with pytest.raises(LedgerUnavailableError):
        use(path, lambda ledger: ledger.runs())

    assert path.read_bytes() == before


def test_a_ledger_goes_on_once_its_folder_is_there(tmp_path: Path) -> None:
    later = tmp_path / "later" / "runs.db"

    async def work(ledger: SqliteLedger) -> RunKey:
        with pytest.raises(LedgerUnavailableError):
            await ledger.open_run("t", [STARTED])
        later.parent.mkdir()
        return await ledger.open_run("t", [STARTED])

    assert use(later, work) == RunKey("t", 1)


def test_a_locked_database_is_a_typed_error_and_the_ledger_goes_on_after_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(busy_timeout, "BUSY_S", 0.05)

    async def work(ledger: SqliteLedger) -> int:
        run = await ledger.open_run("t", [STARTED])
        async with ledger.owned(run) as lease:
            with closing(sqlite3.connect(path, isolation_level=None)) as other:
                other.execute("BEGIN IMMEDIATE")
                with pytest.raises(LedgerUnavailableError) as caught:
                    await ledger.append(lease, [note()])
                assert "locked" in str(caught.value)
                other.execute("ROLLBACK")
            return await ledger.append(lease, [note()])

    assert use(path, work) == 2


def test_a_lock_costs_one_wait_and_does_not_keep_anybody_from_looking(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(busy_timeout, "BUSY_S", 0.3)
    waits: list[str] = []

    class Told(busy_timeout.BusyTimeout):
        """Notes how long it lets each write wait; no time goes by that would give any of it back."""

        @property
        def pragma(self) -> str:
            waits.append(super().pragma)
            return waits[-1]

    monkeypatch.setitem(busy_timeout._with, str(path), told := Told(lambda: 0.0))

    async def work(ledger: SqliteLedger) -> None:
        run = await ledger.open_run("t", [STARTED])
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            waits.clear()
            for _ in range(5):
                with pytest.raises(LedgerUnavailableError):
                    await ledger.post(run, "pause")
            looking = SqliteLedger(path)
            assert await looking.runs() == [run] and len(await looking.events(run)) == 1
            await looking.close()
        await ledger.post(run, "pause")

    use(path, work)
    assert waits[0] == "PRAGMA busy_timeout=300" and set(waits[1:5]) == {"PRAGMA busy_timeout=0"}
    assert told.left_s == 0.3, "whoever writes now waits again"


@pytest.mark.parametrize("replaced", [False, True])
def test_nothing_is_written_to_a_file_that_was_taken_away_and_all_goes_on_once_it_is_back(
    path: Path, replaced: bool
) -> None:
    async def work(ledger: SqliteLedger) -> RunKey:
        await ledger.open_run("t", [STARTED])
        path.rename(path.with_name("away"))
        if replaced:
            path.write_bytes(path.with_name("away").read_bytes())
        with pytest.raises(LedgerUnavailableError) as caught:
            await ledger.open_run("t", [STARTED])
        assert "put it back" in str(caught.value)
        path.with_name("away").rename(path)
        return await ledger.open_run("t", [STARTED])

    assert use(path, work) == RunKey("t", 2)
