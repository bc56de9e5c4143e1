"""The key that seals runs: where it comes from, what its seal covers, and that it is never kept."""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from planner_executor.graph.errors import LedgerKeyError, LedgerSealError
from planner_executor.graph.ledger.drivers import open_ledger
from planner_executor.graph.ledger.run_store import RunStore
from planner_executor.graph.ledger.seal import (
    FILE_VARIABLE,
    VARIABLE,
    SealKey,
    Standing,
    key_from_environment,
    key_from_file,
    seal_fault,
    standing_after,
)
from planner_executor.graph.ledger.verification import Verification, verify
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.testing import drafted

KEY, OTHER = SealKey(b"a secret of many letters"), SealKey(b"another secret of letters")
STARTED, PAUSED = drafted("run_started", {"goal": "g"}), drafted("paused", {})
RUN = RunKey("t", 1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"


def use(path: Path, key: SealKey | None, work: Callable[[RunStore], Awaitable[Any]]) -> Any:
    async def opened() -> Any:
        ledger = open_ledger(path, key)
        try:
            return await work(ledger)
        finally:
            await ledger.close()

    return asyncio.run(opened())


def begin(path: Path, key: SealKey | None) -> None:
    use(path, key, lambda ledger: ledger.open_run("t", [STARTED]))


def go_on(path: Path, key: SealKey | None) -> None:
    async def work(ledger: RunStore) -> None:
        async with ledger.owned(RUN) as lease:
            await ledger.append(lease, [PAUSED, PAUSED])

    use(path, key, work)


def found(path: Path, key: SealKey | None) -> Verification:
    return verify(use(path, None, lambda ledger: ledger.transcript(RUN)), key)


def change(path: Path, statement: str, *values: Any) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        assert db.execute(statement, values).rowcount > 0


def test_a_run_that_was_begun_with_a_key_is_sealed_at_every_event(path: Path) -> None:
    begin(path, KEY)
    assert found(path, KEY).seal == "whole"
    go_on(path, KEY)

    assert (found(path, KEY).seal, found(path, KEY).is_whole, found(path, KEY).key) == ("whole", True, KEY.id)
    assert (found(path, None).seal, found(path, None).is_whole) == ("unchecked", True)


def test_the_key_is_nowhere_in_the_file(path: Path) -> None:
    begin(path, KEY)

    assert all(KEY.secret not in file.read_bytes() for file in path.parent.iterdir())
    assert KEY.secret.decode() not in repr(KEY)


def test_a_cut_end_is_seen_with_the_key_alone(path: Path) -> None:
    begin(path, KEY)
    go_on(path, KEY)
    change(path, "DELETE FROM ledger_events WHERE seq > 2")
    change(path, "UPDATE ledger_runs SET events = 2")

    assert found(path, None).is_whole
    assert found(path, KEY).seal == "broken" and not found(path, KEY).is_whole
    with pytest.raises(LedgerSealError):
        go_on(path, KEY)
    with pytest.raises(LedgerSealError):
        use(path, KEY, lambda ledger: ledger.events(RUN))


def test_a_record_that_was_written_anew_is_seen_with_the_key(path: Path) -> None:
    begin(path, KEY)
    change(path, "DELETE FROM ledger_events")
    change(path, "UPDATE ledger_runs SET events = 0, key = NULL, seal = NULL")
    go_on(path, None)

    assert found(path, None).is_whole and not found(path, KEY).is_whole
    with pytest.raises(LedgerSealError):
        go_on(path, KEY)


@pytest.mark.parametrize(("first", "then"), [(KEY, None), (None, KEY), (KEY, OTHER)])
def test_a_run_goes_on_only_with_the_key_it_was_begun_with(
    path: Path, first: SealKey | None, then: SealKey | None
) -> None:
    begin(path, first)

    with pytest.raises(LedgerSealError) as caught:
        go_on(path, then)

    assert caught.value.run == "t.1"
    assert len(use(path, then, lambda ledger: ledger.events(RUN))) == 1  # it can be looked at all the same


@pytest.mark.parametrize(
    ("key", "key_id", "seal", "fault"),
    [
        (None, None, None, None),
        (None, KEY.id, None, "is sealed with the key"),
        (None, None, b"seal", "is sealed with the key"),
        (KEY, None, KEY.seal(b"link"), "is not sealed"),
        (KEY, OTHER.id, OTHER.seal(b"link"), "is sealed with the key"),
        (KEY, KEY.id, None, "has a seal that does not fit"),
        (KEY, KEY.id, KEY.seal(b"other"), "has a seal that does not fit"),
        (KEY, KEY.id, KEY.seal(b"link"), None),
    ],
)
def test_a_run_goes_on_with_its_own_key_and_seal_alone(
    key: SealKey | None, key_id: str | None, seal: bytes | None, fault: str | None
) -> None:
    found = seal_fault(key, key_id, seal, b"link")

    assert found is fault if fault is None or found is None else found.startswith(fault)


def test_a_seal_of_another_key_is_told_apart(path: Path) -> None:
    begin(path, KEY)

    (fault,) = found(path, OTHER).faults
    assert KEY.id in fault and OTHER.id in fault


@pytest.mark.parametrize("column", ["key", "seal"])
def test_a_changed_seal_is_a_broken_one(path: Path, column: str) -> None:
    begin(path, KEY)
    change(path, f"UPDATE ledger_runs SET {column} = 'x'")

    assert not found(path, KEY).is_whole


def test_the_environment_holds_the_key_or_names_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "key"
    file.write_bytes(b"  a secret of many letters\n")

    monkeypatch.setenv(VARIABLE, "a secret of many letters")
    assert (key_from_environment(), key_from_environment({})) == (KEY, None)
    assert key_from_environment({VARIABLE: "a secret of many letters\n"}) == KEY
    assert key_from_environment({FILE_VARIABLE: str(file)}) == KEY
    assert len({KEY.id, OTHER.id}) == 2


def test_a_key_that_cannot_be_used_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(LedgerKeyError, match="16"):
        SealKey(b"fifteen letters")
    assert len(SealKey(b"sixteen letters!").id) == 16
    with pytest.raises(LedgerKeyError, match="no-such-file"):
        key_from_file(tmp_path / "no-such-file")
    with pytest.raises(LedgerKeyError, match="both"):
        key_from_environment({VARIABLE: "a secret of many letters", FILE_VARIABLE: "key"})


def test_a_run_begins_with_no_events_and_no_seal() -> None:
    assert Standing() == (0, None, None)
    assert standing_after(3, b"link", None) == (3, None, None)
    assert standing_after(3, b"link", KEY) == (3, KEY.id, KEY.seal(b"link"))
