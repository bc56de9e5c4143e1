import asyncio
import gzip
import re
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from planner_executor.graph.errors import LedgerUnavailableError
from planner_executor.graph.ledger.sqlite.connection import Connection
from planner_executor.graph.ledger.sqlite.ledger import SqliteLedger
from planner_executor.graph.ledger.sqlite.migration import bring_up, forecast
from planner_executor.graph.ledger.sqlite.schema import VERSION, version_of
from planner_executor.graph.ledger.tables.dialect import in_sqlite
from planner_executor.graph.ledger.tables.run_index import differences
from planner_executor.graph.ledger.tables.schema import ADDED, ADDED_COLUMNS
from planner_executor.graph.plan.canonical import digest
from planner_executor.graph.record.events import CONTROL
from planner_executor.graph.record.run_filter import RunFilter
from planner_executor.graph.record.standing_approval import LONGEST_S, StandingApproval
from planner_executor.graph.testing import drafted

DATA = Path(__file__).parents[3] / "data"
ADDITIONS = re.findall(r"CREATE (TABLE|INDEX) IF NOT EXISTS (\w+)", in_sqlite("".join(ADDED)))
COLUMNS = [("COLUMN", f"{table}.{column}") for table, column, _ in ADDED_COLUMNS]
OLD = DATA / "schema_1" / "runs.db.gz"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "runs.db"
    path.write_bytes(gzip.decompress(OLD.read_bytes()))
    return path


def look(path: Path) -> list[str]:
    async def work() -> list[str]:
        ledger = SqliteLedger(path)
        try:
            return [run.id for run in await ledger.page(RunFilter())]
        finally:
            await ledger.close()

    return asyncio.run(work())


def version(path: Path) -> int:
    with closing(sqlite3.connect(path)) as db:
        return version_of(db)


def change(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute(statement)
        db.commit()


def test_a_new_database_says_its_version(tmp_path: Path) -> None:
    assert look(tmp_path / "runs.db") == [] and version(tmp_path / "runs.db") == VERSION


def test_an_older_database_is_migrated_when_it_is_opened_and_kept_as_it_was(old: Path) -> None:
    before = sqlite_dump(old)

    assert len(look(old)) == 8
    backup = old.with_name("runs.db.version-1")
    assert (version(old), version(backup)) == (VERSION, 1)
    assert sqlite_dump(backup) == before and stat.S_IMODE(backup.stat().st_mode) == 0o600
    kept = [line for line in before if "INDEX ledger_control" not in line]  # which has the kinds of today
    assert lost(kept, sqlite_dump(old)) == [], "no record is changed"


@pytest.mark.parametrize(
    ("before", "runs"),
    [(2, ["paused", "asks", "done"]), (3, ["asks", "forked", "done"]), (5, ["asks", "branch", "done", "merge"])],
)
def test_a_later_version_is_migrated_without_a_change_to_any_record_or_to_the_index(
    before: int, runs: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "runs.db"
    path.write_bytes(gzip.decompress((DATA / f"schema_{before}" / "runs.db.gz").read_bytes()))
    dumped = sqlite_dump(path)
    ahead = forecast(str(path))

    assert {f"{thread}.1" for thread in runs} <= set(look(path))
    assert (ahead.version, ahead.is_needed, ahead.makes_index) == (before, True, False)
    assert (version(path), version(path.with_name(f"runs.db.version-{before}"))) == (VERSION, before)
    replaced = ("ledger_schema", "INDEX ledger_control", "INDEX ledger_index_waiting")
    kept = [line for line in dumped if not any(name in line for name in replaced)]
    assert [line for line in lost(kept, sqlite_dump(path)) if not line.startswith('INSERT INTO "ledger_index"')] == []
    with closing(Connection(str(path))) as db:
        assert not list(differences(db))


@pytest.mark.parametrize("missing", [*([one] for one in ADDITIONS[:3] + COLUMNS), ADDITIONS + COLUMNS])
def test_a_database_of_a_build_between_gets_what_it_lacks(missing: list[tuple[str, str]], tmp_path: Path) -> None:
    path, new = tmp_path / "runs.db", tmp_path / "new.db"
    path.write_bytes(gzip.decompress((DATA / "schema_3" / "runs.db.gz").read_bytes()))
    look(path)
    look(new)
    before = sqlite_dump(path)
    change(path, "UPDATE ledger_schema SET version = 4")
    for index in ("index_due", "index_until", "index_amount", "index_told", "runs_family"):
        change(path, f"DROP INDEX ledger_{index}")
    for kind, name in missing:
        table, _, column = name.partition(".")
        statement = f"ALTER TABLE {table} DROP COLUMN {column}" if column else f"DROP {kind} IF EXISTS {name}"
        change(path, statement)

    assert "asks.1" in look(path)
    assert version(path.with_name("runs.db.version-4")) == 4
    assert tables_of(path) == tables_of(new)
    renewed = ('INSERT INTO "ledger_history"', 'INSERT INTO "ledger_index"')
    rows = [line for line in before if line.startswith("INSERT") and not line.startswith(renewed)]
    assert sorted(line for line in sqlite_dump(path) if line in set(rows)) == sorted(rows)
    with closing(Connection(str(path))) as db:
        assert not list(differences(db))


def test_standing_approvals_of_an_earlier_version_end_90_days_after_the_migration(tmp_path: Path) -> None:
    path, before = tmp_path / "runs.db", time.time()
    ends = {"no end": None, "late": before + 1e9, "soon": before + 60.0, "damaged": None}

    async def give() -> None:
        ledger = SqliteLedger(path)
        lasting = [
            StandingApproval(one, "pay", {}, 2, "f", "p", ("os:ada",), before, until=end) for one, end in ends.items()
        ]
        started = drafted("run_started", {"goal": "g", "constraints": []})
        await ledger.write(await ledger.open_run("t", [started]), [], after=0, given=lasting)
        await ledger.close()

    async def found() -> dict[str, float | None]:
        ledger = SqliteLedger(path)
        try:
            return {use.approval.id: use.approval.until for use in await ledger.standing()}
        finally:
            await ledger.close()

    asyncio.run(give())
    change(path, "UPDATE ledger_standing SET payload = '{}' WHERE approval = 'damaged'")
    change(path, "UPDATE ledger_schema SET version = 5")
    look(path)
    change(path, "DELETE FROM ledger_standing WHERE approval = 'damaged'")  # which hides no other from here on

    left = asyncio.run(found())
    assert left["soon"] == ends["soon"] and left["late"] == left["no end"] is not None
    assert 0 <= left["late"] - before - LONGEST_S < 600
    change(path, "UPDATE ledger_schema SET version = 5")
    assert asyncio.run(found()) == left, "a second migration puts nothing off"


def test_a_migrated_database_knows_which_run_names_which_artifact(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    path.write_bytes(gzip.decompress((DATA / "schema_3" / "runs.db.gz").read_bytes()))
    look(path)

    with closing(sqlite3.connect(path)) as db:
        query = "SELECT length(content), count(run) FROM ledger_artifacts JOIN ledger_uses ON artifact = id GROUP BY id"
        assert sorted(db.execute(query)) == [(554, 4), (10527, 1)], "the tools of all four runs, a result of one"


def test_a_migrated_database_knows_families_and_the_calls_that_they_have_begun(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    path.write_bytes(gzip.decompress((DATA / "schema_5" / "runs.db.gz").read_bytes()))
    look(path)

    with closing(sqlite3.connect(path)) as db:
        families = dict(db.execute("SELECT thread, family FROM ledger_runs"))
        begun = db.execute(
            "SELECT thread, tool, digest, step FROM ledger_effects JOIN ledger_runs ON id = run"
        ).fetchall()
    assert families["branch"] == families["asks"] and len(set(families.values())) == 3
    assert sorted(begun) == sorted([
        ("done", "pay", digest({"amount": 980}), "paid"),
        ("merge", "mail", digest({"to": "ada"}), "sent"),
        ("merge", "mail", digest({"to": "bo"}), "sent"),
    ])  # fmt: skip


def test_the_last_control_event_is_found_by_an_index_after_a_migration(old: Path) -> None:
    with closing(Connection(str(old))) as db:
        bring_up(db, str(old))
        plan = db.execute(f"EXPLAIN QUERY PLAN SELECT max(seq) FROM ledger_events WHERE run = 1 AND kind IN {CONTROL}")

        assert "ledger_control" in str(plan.fetchall())


def test_a_migrated_database_is_not_migrated_again(old: Path) -> None:
    look(old)
    old.with_name("runs.db.version-1").unlink()

    look(old)
    assert not old.with_name("runs.db.version-1").exists()


def test_a_newer_database_is_refused_and_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    look(path)
    change(path, f"UPDATE ledger_schema SET version = {VERSION + 1}")
    before = path.read_bytes()

    with pytest.raises(LedgerUnavailableError, match=f"version {VERSION + 1}.*newer release"):
        look(path)
    assert path.read_bytes() == before and [file.name for file in tmp_path.iterdir()] == ["runs.db"]


def test_a_backup_that_cannot_be_written_leaves_the_database_as_it_was(old: Path) -> None:
    old.with_name("runs.db.version-1.part").mkdir()

    with pytest.raises(LedgerUnavailableError, match="backup cannot be written"):
        look(old)
    assert version(old) == 1


def test_a_migration_that_fails_half_way_leaves_the_database_as_it_was(old: Path) -> None:
    change(old, "CREATE TABLE ledger_tags (in_the_way TEXT)")

    with pytest.raises(LedgerUnavailableError, match="already exists"):
        look(old)
    assert version(old) == 1
    change(old, "DROP TABLE ledger_tags")
    assert len(look(old)) == 8


@pytest.mark.parametrize("statement", ["beat = beat + 1", "owner = 'else|boot|2|2|y', token = token + 1"])
def test_a_run_whose_owner_is_alive_keeps_the_database_from_being_migrated(statement: str, old: Path) -> None:
    change(old, "UPDATE ledger_leases SET owner = 'elsewhere|boot|1|1|x' WHERE run = 1")

    def looks() -> Iterator[None]:
        change(old, f"UPDATE ledger_leases SET {statement} WHERE run = 1")
        yield

    with (
        closing(Connection(str(old))) as db,
        pytest.raises(LedgerUnavailableError, match=r"done\.1 is being worked on"),
    ):
        bring_up(db, str(old), looks)
    assert version(old) == 1


def test_a_run_whose_owner_stands_still_does_not(old: Path) -> None:
    change(old, "UPDATE ledger_leases SET owner = 'elsewhere|boot|1|1|x' WHERE run = 1")

    with closing(Connection(str(old))) as db:
        assert bring_up(db, str(old), lambda: iter([None, None])) is not None
    assert version(old) == VERSION


def test_a_forecast_says_what_would_be_done_and_writes_nothing(old: Path) -> None:
    before = {file.name: file.read_bytes() for file in old.parent.iterdir()}

    ahead = forecast(str(old))
    assert (ahead.version, ahead.runs, ahead.is_needed) == (1, 8, True)
    assert {file.name: file.read_bytes() for file in old.parent.iterdir() if file.suffix == ".db"} == before


def tables_of(path: Path) -> dict[str, set[Any]]:
    """Return the columns of each table and index; in which order they were made does not matter."""
    with closing(sqlite3.connect(path)) as db:
        names = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE name LIKE 'ledger%'")]
        tables = {name: db.execute("SELECT * FROM pragma_table_info(?)", (name,)).fetchall() for name in names}
        indexes = {
            name: db.execute("SELECT seqno, name FROM pragma_index_info(?)", (name,)).fetchall() for name in names
        }
        return {name: {row[1:] for row in tables[name]} | set(indexes[name]) for name in names}


def lost(before: list[str], after: list[str]) -> list[str]:
    """Return the rows and indexes that are not there any more; a row may have more columns."""
    kept, begun = set(after), "\n".join(after)
    lost = [line for line in before if line not in kept and not line.startswith("CREATE TABLE")]
    return [line for line in lost if line.removesuffix(");") + "," not in begun]


def sqlite_dump(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as db:
        return list(db.iterdump())
