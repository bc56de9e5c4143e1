"""What is special about a ledger on a real PostgreSQL server; `tests/ledger_contract` has the rest."""

import asyncio
import gc
import os
import threading
from collections.abc import Callable
from uuid import uuid4

import psycopg
import pytest
from postgres_server import connected, execute, new_database, new_schema, server

from planner_executor.graph.checkpoints.checkpoint import open_checkpointer
from planner_executor.graph.errors import LedgerUnavailableError
from planner_executor.graph.ledger.drivers import open_ledger
from planner_executor.graph.ledger.postgres.schema import VERSION
from planner_executor.graph.ledger.postgres.server import Server
from planner_executor.graph.ledger.postgres.workers import Workers
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.testing import drafted

pytestmark = pytest.mark.e2e

STARTED = drafted("run_started", {"goal": "g", "constraints": []})
NOTE = drafted("paused", {})
WAITING = "SELECT count(*) FROM pg_stat_activity WHERE application_name = %s AND wait_event_type = 'Lock'"
IN_USE = "SELECT count(*) FROM pg_stat_activity WHERE application_name = %s"


@pytest.fixture
def name() -> str:
    return f"test-{uuid4().hex[:12]}"


@pytest.fixture
def address(name: str) -> str:
    return f"{new_schema()}&application_name={name}"


def in_use(name: str) -> int:
    return int(execute(server(), IN_USE, name)[0][0])


def until(is_so: Callable[[], bool]) -> None:
    """Wait for something that takes no time worth mentioning; the test's own limit ends it."""
    while not is_so():
        pass


async def test_a_newer_database_is_refused_and_left_as_it_is(address: str) -> None:
    ledger = open_ledger(address)
    await ledger.open_run("t", [STARTED])
    await ledger.close()
    execute(address, "UPDATE ledger_schema SET version = 99")
    execute(address, "DROP TABLE ledger_tags")
    with pytest.raises(LedgerUnavailableError) as caught:
        await open_ledger(address).runs()
    said = str(caught.value)
    assert "version 99" in said and f"version {VERSION};" in said
    assert execute(address, "SELECT to_regclass('ledger_tags')") == [(None,)]


async def test_events_are_read_as_they_were_hashed_if_the_server_shortens_numbers(address: str) -> None:
    ledger = open_ledger(address.replace("=-c", "=-cextra_float_digits%3D0%20-c"))
    await ledger.open_run("t", [STARTED])
    kept = await ledger.events(RunKey("t", 1))
    await ledger.close()
    assert len(kept) == 1


@pytest.mark.parametrize("table", ["ledger_runs (id int)", "checkpoints (id int)"])
async def test_a_table_of_another_application_is_left_alone_and_the_error_names_the_next_move(
    address: str, table: str
) -> None:
    execute(address, f"CREATE TABLE {table}")

    with pytest.raises(LedgerUnavailableError, match="name a schema of your own"):
        async with open_checkpointer(address):
            await open_ledger(address).runs()


def test_a_database_in_another_encoding_is_refused() -> None:
    made = new_database("ENCODING 'SQL_ASCII' LOCALE 'C'")
    with made as address, pytest.raises(LedgerUnavailableError, match="SQL_ASCII"):
        Server(address).connect()


def test_a_new_database_may_be_opened_by_several_at_once(address: str) -> None:
    failures: list[Exception] = []

    def connect() -> None:
        try:
            Server(address).connect().close()
        except (psycopg.Error, LedgerUnavailableError) as error:
            failures.append(error)

    threads = [threading.Thread(target=connect) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failures == []


async def test_connections_are_shared_and_end_with_their_last_user(address: str, name: str) -> None:
    ledgers = [open_ledger(address) for _ in range(5)]
    await asyncio.gather(*(ledger.open_run("t", [STARTED]) for ledger in ledgers))
    until(lambda: in_use(name) == 2)  # one for the runs' lane, one for notices
    for ledger in ledgers[1:]:
        await ledger.close()
    assert in_use(name) == 2 and await ledgers[0].last_run("t") == RunKey("t", 5)
    await ledgers[0].close()
    until(lambda: in_use(name) == 0)
    assert await ledgers[0].last_run("t") == RunKey("t", 5)
    await ledgers[0].close()


async def test_a_ledger_that_is_dropped_lets_go_of_its_connections(address: str, name: str) -> None:
    await open_ledger(address).open_run("t", [STARTED])
    gc.collect()

    until(lambda: in_use(name) == 0)


def test_a_forked_process_has_connections_of_its_own(address: str) -> None:
    ledger = open_ledger(address)
    asyncio.run(ledger.open_run("t", [STARTED]))
    pid = os.fork()
    if pid == 0:
        asyncio.run(asyncio.wait_for(ledger.open_run("t", [STARTED]), 30))
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0

    async def main() -> list[RunKey]:
        await ledger.open_run("t", [STARTED])
        found = await ledger.runs()
        await ledger.close()
        return found

    assert asyncio.run(main()) == [RunKey("t", 3), RunKey("t", 2), RunKey("t", 1)]


def test_an_event_loop_that_ends_in_the_middle_of_a_call_disturbs_nobody(address: str, name: str) -> None:
    ledger = open_ledger(address)
    run = asyncio.run(ledger.open_run("t", [STARTED]))

    async def begin() -> None:
        asyncio.get_running_loop().create_task(ledger.post(run, "pause"))
        await asyncio.sleep(0)

    loop = asyncio.new_event_loop()
    with connected(address) as other:
        other.execute("BEGIN")
        other.execute("LOCK TABLE ledger_inbox")
        task = loop.create_task(begin())
        loop.run_until_complete(task)
        until(lambda: bool(execute(server(), WAITING, name)[0][0]))
        for left in asyncio.all_tasks(loop):
            left.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()
        other.execute("COMMIT")

    async def take() -> list[str]:
        async with ledger.owned(run) as lease:
            found = await ledger.take_messages(lease)
        await ledger.close()
        return found

    assert asyncio.run(take()) == ["pause"]


async def test_the_event_loop_goes_on_while_the_database_is_locked(address: str) -> None:
    ledger = open_ledger(address)
    run = await ledger.open_run("t", [STARTED])
    with connected(address) as other:
        other.execute("BEGIN")
        other.execute("SELECT * FROM ledger_runs FOR UPDATE")
        writing = asyncio.create_task(ledger.write(run, [NOTE], after=1))
        for _ in range(100):
            await asyncio.sleep(0)
        assert not writing.done()
        other.execute("COMMIT")
    found = await writing
    await ledger.close()
    assert found[0].seq == 2


async def test_a_run_that_is_locked_does_not_hold_up_runs_of_other_threads(address: str) -> None:
    ledger = open_ledger(address)
    runs = [await ledger.open_run(thread, [STARTED]) for thread in ("a", "b")]
    with connected(address) as other:
        other.execute("BEGIN")
        other.execute("SELECT * FROM ledger_runs WHERE thread = 'a' FOR UPDATE")
        writing = asyncio.create_task(ledger.write(runs[0], [NOTE], after=1))
        assert [event.seq for event in await ledger.write(runs[1], [NOTE], after=1)] == [2]
        assert not writing.done()
        other.execute("COMMIT")
    await writing
    await ledger.close()


@pytest.mark.parametrize("full", [True, False])
async def test_only_what_must_survive_a_crash_waits_for_the_disk_and_a_session_keeps_nothing(
    address: str, full: bool
) -> None:
    workers = Workers(Server(address), lambda: None)
    asked = "SELECT current_setting('synchronous_commit'), (SELECT count(*) FROM pg_prepared_statements)"
    assert await workers.run(lambda tx: tx.ask(asked), full=full) == [("on" if full else "off", 0)]
    settings = "SELECT current_setting('lock_timeout'), current_setting('idle_in_transaction_session_timeout')"
    assert await workers.run(lambda tx: tx.ask(settings), writes=False) == [("0", "0")]
    workers.stop()
    await workers.ended()


async def test_the_size_of_a_database_is_that_of_all_its_tables(address: str) -> None:
    sizes = (
        "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()"
    )
    ledger = open_ledger(address)
    await ledger.open_run("t", [STARTED])
    size = (await ledger.health()).file
    await ledger.close()
    assert size == execute(address, f"{sizes}::regnamespace")[0][0]
