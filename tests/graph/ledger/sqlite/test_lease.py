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
from planner_executor.graph.ledger.protocol import Lease, RunKey
from planner_executor.graph.ledger.sqlite import busy_timeout
from planner_executor.graph.ledger.sqlite.lease import SCHEMA, beat, claim, disown, free, look, release, take_over
from planner_executor.graph.ledger.sqlite.ledger import SqliteLedger
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
def db() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.executescript(SCHEMA)
        yield connection


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


def test_a_run_that_nobody_had_is_claimed(db: sqlite3.Connection) -> None:
    assert look(db, 1) is None
    assert claim(db, RUN, 1, "me") == Lease(RUN, 1, token=1)
    assert look(db, 1) == Holder("me", 1, 0)


def test_a_run_that_somebody_has_is_left_as_it_is(db: sqlite3.Connection) -> None:
    beat(db, [Lease(RUN, 1, 1)])
    claim(db, RUN, 1, "me")

    assert claim(db, RUN, 1, "you") == Holder("me", 1, 0) == look(db, 1)


def test_a_run_that_was_let_go_is_claimed_under_the_next_token(db: sqlite3.Connection) -> None:
    for token in (1, 2, 3):
        lease = claim(db, RUN, 1, "me")
        assert lease == Lease(RUN, 1, token)
        beat(db, [lease])
        release(db, lease)

    assert look(db, 1) == Holder("", 3, 1)


def test_of_two_challengers_who_saw_the_same_one_wins(db: sqlite3.Connection) -> None:
    claim(db, RUN, 1, "old")
    seen = claim(db, RUN, 1, "one")
    assert isinstance(seen, Holder)

    assert [take_over(db, RUN, 1, name, seen) for name in ("one", "two")] == [Lease(RUN, 1, 2), None]
    assert look(db, 1) == Holder("one", 2, 0)


@pytest.mark.parametrize("token", [1, 2])
def test_an_owner_that_beat_since_it_was_seen_is_not_taken_over(db: sqlite3.Connection, token: int) -> None:
    lease = claim(db, RUN, 1, "old")
    if token == 2:
        release(db, Lease(RUN, 1, 1))
        lease = claim(db, RUN, 1, "old")
    seen = look(db, 1)
    assert isinstance(lease, Lease) and seen is not None
    beat(db, [lease])

    assert take_over(db, RUN, 1, "new", seen) is None
    assert look(db, 1) == Holder("old", token, 1)


def test_an_owner_that_was_taken_over_neither_beats_nor_lets_go_for_its_heir(db: sqlite3.Connection) -> None:
    old = claim(db, RUN, 1, "old")
    assert isinstance(old, Lease)
    take_over(db, RUN, 1, "new", Holder("old", 1, 0))

    beat(db, [old])
    release(db, old)
    disown(db, "old")

    assert look(db, 1) == Holder("new", 2, 0)


def test_each_run_has_an_owner_and_a_token_of_its_own(db: sqlite3.Connection) -> None:
    first, second = claim(db, RUN, 1, "me"), claim(db, OTHER, 2, "you")
    assert isinstance(first, Lease) and isinstance(second, Lease)
    beat(db, [second])
    release(db, first)

    assert (look(db, 1), look(db, 2)) == (Holder("", 1, 0), Holder("you", 1, 1))


def test_a_run_is_left_free_under_a_new_token_if_nobody_has_moved_since(db: sqlite3.Connection) -> None:
    seen = claim(db, RUN, 1, "dead") and look(db, 1)

    assert free(db, OTHER, 2, None) and look(db, 2) == Holder("", 1, 0)
    assert free(db, RUN, 1, seen) and look(db, 1) == Holder("", 2, 0)
    assert not free(db, RUN, 1, seen) and look(db, 1) == Holder("", 2, 0)


def test_an_owner_that_never_learned_its_token_can_let_go(db: sqlite3.Connection) -> None:
    claim(db, RUN, 1, "me")
    claim(db, OTHER, 2, "you")
    disown(db, "me")

    assert (look(db, 1), look(db, 2)) == (Holder("", 1, 0), Holder("you", 1, 0))


def beats(db: sqlite3.Connection, run_id: int = 1) -> int:
    seen = look(db, run_id)
    assert seen is not None
    return seen.beat


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
def test_a_row_that_somebody_changed_is_damage_and_no_owner(db: sqlite3.Connection, row: tuple[object, ...]) -> None:
    db.execute("DROP TABLE ledger_leases")
    db.execute("CREATE TABLE ledger_leases (run INTEGER PRIMARY KEY, owner, token, beat)")
    db.execute("INSERT INTO ledger_leases VALUES (1, ?, ?, ?)", row)

    with pytest.raises(sqlite3.DatabaseError, match="a lease was changed"):
        look(db, 1)
