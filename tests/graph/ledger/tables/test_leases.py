"""The table of leases, and the heartbeat while the file is locked."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import TypeVar

import pytest

from planner_executor.graph.errors import (
    LedgerUnavailableError,
)
from planner_executor.graph.ledger.lease import LEASE_S, PACE, Holder, Pace
from planner_executor.graph.ledger.protocol import Lease
from planner_executor.graph.ledger.sqlite import busy_timeout
from planner_executor.graph.ledger.sqlite.connection import Connection
from planner_executor.graph.ledger.sqlite.ledger import SqliteLedger
from planner_executor.graph.ledger.tables import leases
from planner_executor.graph.ledger.tables.leases import beat, disown
from planner_executor.graph.ledger.tables.runs import head_of
from planner_executor.graph.ledger.tables.schema import create
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.testing import drafted

Result = TypeVar("Result")
RUN, OTHER = RunKey("t", 1), RunKey("t", 2)
STARTED = drafted("run_started", {"goal": "g"})
NOTE = drafted("paused", {})
NEVER_S = 3600.0

needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="start times are read from /proc")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"


@pytest.fixture
def db() -> Iterator[Connection]:
    with closing(Connection(":memory:")) as connection:
        create(connection)
        for run in (RUN, OTHER):
            connection.tell("INSERT INTO ledger_runs (thread, n) VALUES (%s, %s)", run.thread, run.n)
        yield connection


def look(db: Connection, run: RunKey = RUN) -> Holder | None:
    return head_of(db, "db", run).holder


def claim(db: Connection, run: RunKey, owner: str) -> Lease | Holder:
    return leases.claim(db, head_of(db, "db", run), owner, LEASE_S)


def take_over(db: Connection, owner: str, seen: Holder) -> Lease | None:
    return leases.take_over(db, head_of(db, "db", RUN), owner, seen)


def free(db: Connection, run: RunKey, seen: Holder | None) -> bool:
    return leases.free(db, head_of(db, "db", run), seen)


def release(db: Connection, lease: Lease) -> None:
    leases.release(db, head_of(db, "db", lease.run), lease.token)


@asynccontextmanager
async def opened(path: Path, count: int, pace: Pace) -> AsyncIterator[list[SqliteLedger]]:
    ledgers = [SqliteLedger(path, pace=pace) for _ in range(count)]
    try:
        yield ledgers
    finally:
        for ledger in ledgers:
            await ledger.close()


def use(path: Path, work: Callable[..., Awaitable[Result]], count: int = 1, pace: Pace = PACE) -> Result:
    """Do work with a new run and so many ledgers on one file; nothing in it takes half a minute."""

    async def main() -> Result:
        async with opened(path, count, pace) as ledgers, asyncio.timeout(30):
            return await work(await ledgers[0].open_run("t", [STARTED]), *ledgers)

    return asyncio.run(main())


def test_a_run_that_nobody_had_is_claimed(db: Connection) -> None:
    assert look(db) is None
    assert claim(db, RUN, "me") == Lease(RUN, 1, token=1)
    assert look(db) == Holder("me", 1, 0)


def test_a_run_that_somebody_has_is_left_as_it_is(db: Connection) -> None:
    beat(db, [Lease(RUN, 1, 1)])
    claim(db, RUN, "me")

    assert claim(db, RUN, "you") == Holder("me", 1, 0) == look(db)


@pytest.mark.parametrize(("silent_s", "taken"), [(LEASE_S, Holder("old", 1, 0)), (LEASE_S + 1, Lease(RUN, 1, 2))])
def test_an_owner_that_a_server_has_not_heard_for_longer_than_a_lease_is_replaced(
    silent_s: float, taken: Lease | Holder, db: Connection
) -> None:
    claim(db, RUN, "old")
    seen = head_of(db, "db", RUN)._replace(silent_s=silent_s)

    assert leases.claim(db, seen, "new", LEASE_S) == taken


def test_a_run_that_nobody_had_is_claimed_however_long_nothing_was_heard_of_it(db: Connection) -> None:
    never = head_of(db, "db", RUN)._replace(silent_s=LEASE_S + 1)

    assert leases.claim(db, never, "me", LEASE_S) == Lease(RUN, 1, token=1)


def test_a_run_that_was_let_go_is_claimed_under_the_next_token(db: Connection) -> None:
    for token in (1, 2, 3):
        lease = claim(db, RUN, "me")
        assert lease == Lease(RUN, 1, token)
        beat(db, [lease])
        release(db, lease)

    assert look(db) == Holder("", 3, 1)


def test_of_two_challengers_who_saw_the_same_one_wins(db: Connection) -> None:
    claim(db, RUN, "old")
    seen = claim(db, RUN, "one")
    assert isinstance(seen, Holder)

    assert [take_over(db, name, seen) for name in ("one", "two")] == [Lease(RUN, 1, 2), None]
    assert look(db) == Holder("one", 2, 0)


@pytest.mark.parametrize("token", [1, 2])
def test_an_owner_that_beat_since_it_was_seen_is_not_taken_over(db: Connection, token: int) -> None:
    lease = claim(db, RUN, "old")
    if token == 2:
        release(db, Lease(RUN, 1, 1))
        lease = claim(db, RUN, "old")
    seen = look(db)
    assert isinstance(lease, Lease) and seen is not None
    beat(db, [lease])

    assert take_over(db, "new", seen) is None
    assert look(db) == Holder("old", token, 1)


def test_an_owner_that_was_taken_over_neither_beats_nor_lets_go_for_its_heir(db: Connection) -> None:
    old = claim(db, RUN, "old")
    assert isinstance(old, Lease)
    take_over(db, "new", Holder("old", 1, 0))

    beat(db, [old])
    release(db, old)
    disown(db, "old")

    assert look(db) == Holder("new", 2, 0)


def test_each_run_has_an_owner_and_a_token_of_its_own(db: Connection) -> None:
    first, second = claim(db, RUN, "me"), claim(db, OTHER, "you")
    assert isinstance(first, Lease) and isinstance(second, Lease)
    beat(db, [second])
    release(db, first)

    assert (look(db), look(db, OTHER)) == (Holder("", 1, 0), Holder("you", 1, 1))


def test_a_run_is_left_free_under_a_new_token_if_nobody_has_moved_since(db: Connection) -> None:
    seen = claim(db, RUN, "dead") and look(db)

    assert free(db, OTHER, None) and look(db, OTHER) == Holder("", 1, 0)
    assert free(db, RUN, seen) and look(db) == Holder("", 2, 0)
    assert not free(db, RUN, seen) and look(db) == Holder("", 2, 0)


def test_what_writes_without_a_lease_leaves_a_free_run_free_under_a_new_token(db: Connection) -> None:
    def passes(run: RunKey) -> bool:
        return leases.pass_over(db, head_of(db, "db", run), LEASE_S)

    assert passes(RUN) and look(db) == Holder("", 1, 0)
    assert passes(RUN) and look(db) == Holder("", 2, 0)
    claim(db, RUN, "me")
    assert not passes(RUN) and look(db) == Holder("me", 3, 0)
    silent = head_of(db, "db", RUN)._replace(silent_s=LEASE_S + 1)
    assert leases.pass_over(db, silent, LEASE_S) and look(db) == Holder("", 4, 0)


def test_an_owner_that_never_learned_its_token_can_let_go(db: Connection) -> None:
    claim(db, RUN, "me")
    claim(db, OTHER, "you")
    disown(db, "me")

    assert (look(db), look(db, OTHER)) == (Holder("", 1, 0), Holder("you", 1, 0))


def beats(db: sqlite3.Connection) -> int:
    return int(db.execute("SELECT beat FROM ledger_leases WHERE run = 1").fetchone()[0])


def block_until(true: Callable[[], bool]) -> None:
    """Keep this thread, and with it the event loop, from doing anything else."""
    while not true():
        pass


def test_the_heart_beats_again_after_the_file_was_locked(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(busy_timeout, "BUSY_S", 0.05)

    async def work(run: RunKey, ledger: SqliteLedger) -> int:
        async with ledger.owned(run) as lease:
            with closing(sqlite3.connect(path, isolation_level=None)) as db:
                db.execute("BEGIN IMMEDIATE")
                with pytest.raises(LedgerUnavailableError):
                    await ledger.append(lease, [NOTE])
                before = beats(db)
                db.execute("ROLLBACK")
                block_until(lambda: beats(db) >= before + 3)
            return await ledger.append(lease, [NOTE])

    assert use(path, work, pace=Pace(0.01)) == 2


@needs_proc
def test_a_lease_that_could_not_be_given_back_holds_nobody_up(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(busy_timeout, "BUSY_S", 0.05)

    async def work(run: RunKey, ledger: SqliteLedger, other: SqliteLedger) -> int:
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            async with ledger.owned(run):
                db.execute("BEGIN IMMEDIATE")
            assert db.execute("SELECT owner FROM ledger_leases").fetchone() != ("",)
            assert not await other.is_worked_on(run)
        async with asyncio.timeout(LEASE_S / 2), other.owned(run) as lease:
            return lease.token

    assert use(path, work, 2) == 2


@pytest.mark.parametrize("row", [("me", "one", 0), ("me", 1, "none"), (5, 1, 0)], ids=repr)
def test_a_row_that_somebody_changed_is_damage_and_no_owner(db: Connection, row: tuple[object, ...]) -> None:
    db.execute("DROP TABLE ledger_leases")
    db.execute("CREATE TABLE ledger_leases (run INTEGER PRIMARY KEY, owner, token, beat)")
    db.execute("INSERT INTO ledger_leases VALUES (1, ?, ?, ?)", row)

    with pytest.raises(LedgerUnavailableError, match="a lease was changed; restore the file from a backup"):
        look(db)
