"""The drivers that the contract is checked with; a new one adds a class and a row in `DRIVERS`.

A driver opens ledgers on one database, and reaches below them: the tests damage what is stored, and give a run to an
owner who is gone or far away.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any, Protocol, TypeVar

import pytest
from postgres_server import execute, new_schema

from planner_executor.graph.ledger.lease import PACE, Holder, Pace
from planner_executor.graph.ledger.owner import new_owner
from planner_executor.graph.ledger.postgres.ledger import PostgresLedger
from planner_executor.graph.ledger.run_store import RunStore
from planner_executor.graph.ledger.seal import SealKey
from planner_executor.graph.ledger.sqlite.callers_thread import CallersThread
from planner_executor.graph.ledger.sqlite.ledger import SqliteLedger
from planner_executor.graph.ledger.sqlite.memory import MemoryLedger
from planner_executor.graph.ledger.sqlite.writers import SharedWriter
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.testing import drafted

Result = TypeVar("Result")
STARTED = drafted("run_started", {"goal": "g", "constraints": []})
NOTE = drafted("paused", {})
NEVER_S = 3600.0


class Driver(Protocol):
    """One database, empty at first."""

    def open(self, key: SealKey | None = None, pace: Pace = PACE) -> RunStore:
        """Return one more ledger on the database, as another process would open it."""

    def change(self, run: RunKey, seq: int, column: str, value: Any) -> Any:
        """Put another value in a column of an event, one of `graph.ledger.chain.Row`, and return the old one."""

    def cut(self, run: RunKey, left: int) -> Callable[[], None]:
        """Remove the events after the `left`-th, and return what puts them back."""

    def pretend(self, run: RunKey, written: int) -> None:
        """Change how many events the run says were written."""

    def change_artifact(self, artifact_id: str, content: str | None) -> None:
        """Put other content in place of an artifact's, or remove it."""

    def change_index(self, run: RunKey, status: str) -> None:
        """Put another status in the run's row in the index."""

    def delete(self, run: RunKey) -> None:
        """Delete a run and its events behind the ledger's back."""

    def change_tombstone(self, number: int, column: str, value: Any) -> None:
        """Put another value in a column of a tombstone, one of `graph.ledger.tombstone.Tombstone`."""

    def delete_tombstone(self, number: int) -> None:
        """Delete a tombstone."""

    def holder(self, run: RunKey) -> Holder | None:
        """Return the run's row among the leases."""

    def own(self, run: RunKey, owner: str) -> None:
        """Put another owner's name into the run's row among the leases."""


class SqliteDriver:
    """A file, and a ledger of this process for each time it is opened."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "runs.db"

    def open(self, key: SealKey | None = None, pace: Pace = PACE) -> RunStore:
        return SqliteLedger(self.path, key, pace)

    def change(self, run: RunKey, seq: int, column: str, value: Any) -> Any:
        where = f"WHERE seq = {seq} AND run = {self._run_id(run)}"
        old = self._ask(f"SELECT {column} FROM ledger_events {where}")[0][0]
        is_text = isinstance(value, str)  # which may hold what stands for a byte that is no text
        cell = value.encode("utf-8", "surrogateescape") if is_text else value
        self._ask(f"UPDATE ledger_events SET {column} = {'CAST(? AS TEXT)' if is_text else '?'} {where}", cell)
        return old

    def cut(self, run: RunKey, left: int) -> Callable[[], None]:
        where = f"WHERE seq > {left} AND run = {self._run_id(run)}"
        lost = self._ask(f"SELECT * FROM ledger_events {where}")
        self._ask(f"DELETE FROM ledger_events {where}")

        def restore() -> None:
            for row in lost:
                self._ask(f"INSERT INTO ledger_events VALUES ({', '.join('?' * len(row))})", *row)

        return restore

    def pretend(self, run: RunKey, written: int) -> None:
        self._ask(f"UPDATE ledger_runs SET events = {written} WHERE id = {self._run_id(run)}")

    def change_artifact(self, artifact_id: str, content: str | None) -> None:
        self._ask("DELETE FROM ledger_artifacts WHERE id = ?", artifact_id)
        if content is not None:
            self._ask("INSERT INTO ledger_artifacts VALUES (?, ?)", artifact_id, content)

    def change_index(self, run: RunKey, status: str) -> None:
        self._ask(f"UPDATE ledger_index SET status = ? WHERE run = {self._run_id(run)}", status)

    def delete(self, run: RunKey) -> None:
        run_id = self._run_id(run)
        for table in ("ledger_events", "ledger_index", "ledger_uses"):
            self._ask(f"DELETE FROM {table} WHERE run = {run_id}")
        self._ask(f"DELETE FROM ledger_runs WHERE id = {run_id}")

    def change_tombstone(self, number: int, column: str, value: Any) -> None:
        name = {"by": "person"}.get(column, column)
        self._ask(f"UPDATE ledger_tombstones SET {name} = ? WHERE number = {number}", value)

    def delete_tombstone(self, number: int) -> None:
        self._ask(f"DELETE FROM ledger_tombstones WHERE number = {number}")

    def holder(self, run: RunKey) -> Holder | None:
        rows = self._ask(f"SELECT owner, token, beat FROM ledger_leases WHERE run = {self._run_id(run)}")
        return Holder(*rows[0]) if rows else None

    def own(self, run: RunKey, owner: str) -> None:
        self._ask(f"UPDATE ledger_leases SET owner = ? WHERE run = {self._run_id(run)}", owner)

    def _run_id(self, run: RunKey) -> int:
        return int(self._ask("SELECT id FROM ledger_runs WHERE thread = ? AND n = ?", run.thread, run.n)[0][0])

    def _ask(self, statement: str, *values: Any) -> list[Any]:
        with closing(sqlite3.connect(self.path)) as db, db:
            return db.execute(statement, values).fetchall()


class MemoryDriver(SqliteDriver):
    """One memory, shared by the ledgers that are opened; it is changed on the thread that has its connection."""

    def __init__(self, _folder: Path) -> None:
        self.memory: SharedWriter[CallersThread] | None = None

    def open(self, key: SealKey | None = None, pace: Pace = PACE) -> RunStore:
        ledger = MemoryLedger(key, self.memory, pace)
        self.memory = ledger.memory
        return ledger

    def _ask(self, statement: str, *values: Any) -> list[Any]:
        assert self.memory is not None
        asked = self.memory.thread.run(lambda db: db.execute(statement, values).fetchall())
        with ThreadPoolExecutor() as beside:  # the loop of a test waits meanwhile
            return beside.submit(asyncio.run, asked).result()


class PostgresDriver:
    """A schema of a server, and a ledger of this process for each time it is opened."""

    def __init__(self, _folder: Path) -> None:
        self.address = new_schema()

    def open(self, key: SealKey | None = None, pace: Pace = PACE) -> RunStore:
        return PostgresLedger(self.address, key, pace)

    def change(self, run: RunKey, seq: int, column: str, value: Any) -> Any:
        where = f"WHERE seq = {seq} AND run = {self._run_id(run)}"
        old = self._ask(f"SELECT {column} FROM ledger_events {where}")[0][0]
        if isinstance(value, str):  # the server refuses bytes that are no text
            value = value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        elif isinstance(old, str) and value is not None:
            value = value.decode()
        self._ask(f"UPDATE ledger_events SET {column} = %s {where}", value)
        return old

    def cut(self, run: RunKey, left: int) -> Callable[[], None]:
        where = f"WHERE seq > {left} AND run = {self._run_id(run)}"
        lost = self._ask(f"DELETE FROM ledger_events {where} RETURNING *")

        def restore() -> None:
            for row in lost:
                self._ask(f"INSERT INTO ledger_events VALUES ({', '.join(['%s'] * len(row))})", *row)

        return restore

    def pretend(self, run: RunKey, written: int) -> None:
        self._ask(f"UPDATE ledger_runs SET events = {written} WHERE id = {self._run_id(run)}")

    def change_artifact(self, artifact_id: str, content: str | None) -> None:
        self._ask("DELETE FROM ledger_artifacts WHERE id = %s", artifact_id)
        if content is not None:
            self._ask("INSERT INTO ledger_artifacts VALUES (%s, %s)", artifact_id, content)

    def change_index(self, run: RunKey, status: str) -> None:
        self._ask(f"UPDATE ledger_index SET status = %s WHERE run = {self._run_id(run)}", status)

    def delete(self, run: RunKey) -> None:
        run_id = self._run_id(run)
        for table in ("ledger_events", "ledger_index", "ledger_uses"):
            self._ask(f"DELETE FROM {table} WHERE run = {run_id}")
        self._ask(f"DELETE FROM ledger_runs WHERE id = {run_id}")

    def change_tombstone(self, number: int, column: str, value: Any) -> None:
        name = {"by": "person"}.get(column, column)
        self._ask(f"UPDATE ledger_tombstones SET {name} = %s WHERE number = {number}", value)

    def delete_tombstone(self, number: int) -> None:
        self._ask(f"DELETE FROM ledger_tombstones WHERE number = {number}")

    def holder(self, run: RunKey) -> Holder | None:
        rows = self._ask(f"SELECT owner, token, beat FROM ledger_leases WHERE run = {self._run_id(run)}")
        return Holder(*rows[0]) if rows else None

    def own(self, run: RunKey, owner: str) -> None:
        self._ask(f"UPDATE ledger_leases SET owner = %s WHERE run = {self._run_id(run)}", owner)

    def _run_id(self, run: RunKey) -> int:
        return int(self._ask("SELECT id FROM ledger_runs WHERE thread = %s AND n = %s", run.thread, run.n)[0][0])

    def _ask(self, statement: str, *values: Any) -> list[Any]:
        return execute(self.address, statement, *values)


DRIVERS: dict[str, Callable[[Path], Driver]] = {
    "sqlite": SqliteDriver,
    "memory": MemoryDriver,
    "postgres": PostgresDriver,
}
PARAMETERS = [pytest.param(name, marks=[pytest.mark.e2e] if name == "postgres" else []) for name in DRIVERS]


@asynccontextmanager
async def opened(
    driver: Driver, count: int = 1, key: SealKey | None = None, pace: Pace = PACE
) -> AsyncIterator[list[RunStore]]:
    """Open so many ledgers on the database; nothing that is done with them takes half a minute."""
    ledgers = [driver.open(key, pace) for _ in range(count)]
    try:
        async with asyncio.timeout(30):
            yield ledgers
    finally:
        for ledger in ledgers:
            await ledger.close()


@asynccontextmanager
async def begun(driver: Driver, count: int = 1, pace: Pace = PACE) -> AsyncIterator[tuple[Any, ...]]:
    """Begin a run, and open so many ledgers on its database, see `opened`: `(run, ledger, ...)`."""
    async with opened(driver, count, pace=pace) as ledgers:
        yield await ledgers[0].open_run("t", [STARTED]), *ledgers


def use(driver: Driver, work: Callable[..., Awaitable[Result]], count: int = 1, key: SealKey | None = None) -> Result:
    """Do work with so many ledgers on an event loop of its own, as a process that comes and goes does."""

    async def main() -> Result:
        async with opened(driver, count, key) as ledgers:
            return await work(*ledgers)

    return asyncio.run(main())


def with_run(driver: Driver, work: Callable[..., Awaitable[Result]]) -> Result:
    """Do work with a new run and a ledger; see `use`."""

    async def main() -> Result:
        async with begun(driver) as given:
            return await work(*given)

    return asyncio.run(main())


async def write(ledger: RunStore, run: RunKey, drafts: Any, **more: Any) -> int:
    """Own the run for one append."""
    async with ledger.owned(run) as lease:
        return await ledger.append(lease, drafts, **more)


async def kinds(ledger: RunStore, run: RunKey) -> list[str]:
    return [event.kind for event in await ledger.events(run)]


def departed() -> str:
    """Return the name of an owner that is no more: this process's number, given to another before."""
    return altered(start="0")


def altered(**parts: str) -> str:
    """Return an owner's name with other parts: host, boot, pid, start, name."""
    host, boot, pid, start, name = new_owner().split("|")
    return "|".join({"host": host, "boot": boot, "pid": pid, "start": start, "name": name, **parts}.values())
