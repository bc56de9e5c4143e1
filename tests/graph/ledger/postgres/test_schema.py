"""Tables of an earlier version are brought up when they are opened."""

import asyncio
import re
import time

import pytest
from postgres_server import execute, new_schema

from planner_executor.graph.errors import LedgerUnavailableError
from planner_executor.graph.ledger.drivers import open_ledger
from planner_executor.graph.ledger.postgres.schema import VERSION
from planner_executor.graph.ledger.postgres.server import Server
from planner_executor.graph.ledger.tables.dialect import in_postgres
from planner_executor.graph.ledger.tables.schema import ADDED, FAMILIES
from planner_executor.graph.plan.canonical import digest
from planner_executor.graph.record.standing_approval import LONGEST_S, StandingApproval
from planner_executor.graph.record.values import keep
from planner_executor.graph.testing import drafted

pytestmark = pytest.mark.e2e

COLUMNS = """
SELECT relname, attname, format_type(atttypid, atttypmod), attnotnull FROM pg_attribute
JOIN pg_class ON pg_class.oid = attrelid
WHERE relnamespace = current_schema()::regnamespace AND relname LIKE 'ledger%' AND attnum > 0 AND NOT attisdropped
ORDER BY relname, attname
"""
"""The columns of all tables and indexes."""
STARTED = drafted("run_started", {"goal": "g", "constraints": []})


@pytest.fixture
def address() -> str:
    return new_schema()


def drop(address: str, *statements: str) -> None:
    """Drop the tables and indexes that statements make."""
    made = re.findall(r"CREATE (TABLE|INDEX) IF NOT EXISTS ([a-z_]+)", in_postgres("".join(statements)))
    for kind in ("TABLE", "INDEX"):
        execute(address, f"DROP {kind} IF EXISTS {', '.join(name for of, name in made if of == kind)}")


def as_version_1(address: str) -> None:
    """Take away what version 1 did not have."""
    drop(address, *ADDED)
    execute(address, "ALTER TABLE ledger_appends DROP COLUMN runs, DROP COLUMN number")
    added = ("due_at", "review", "started_by", "until", "amount", "told")
    execute(address, f"ALTER TABLE ledger_index {', '.join(f'DROP COLUMN {name}' for name in added)}")
    execute(address, "ALTER TABLE ledger_runs DROP COLUMN family")
    execute(address, "CREATE INDEX ledger_appends_at ON ledger_appends (at)")
    execute(address, "UPDATE ledger_schema SET version = 1")


def as_version_3(address: str) -> None:
    """Take away what version 3 did not have."""
    drop(address, FAMILIES)
    execute(address, "ALTER TABLE ledger_runs DROP COLUMN family")
    execute(address, "UPDATE ledger_schema SET version = 3")


async def test_tables_of_version_3_get_families_and_the_calls_that_they_have_begun(address: str) -> None:
    call = {"key": "k", "call": 0, "tool": "pay", "args": {"amount": 980}, "repeatable": False, "revision": 1}

    ledger = open_ledger(address)
    await ledger.open_run("t", [STARTED, drafted("call_started", call, "paid")])
    await ledger.open_run("t", [STARTED, drafted("call_started", {**call, "repeatable": True}, "looked")])
    await ledger.open_run("fork", [STARTED, drafted("run_forked", {"source": "t.1", "again": []})])
    await ledger.open_run("other", [STARTED])
    await ledger.close()
    as_version_3(address)
    ledger = open_ledger(address)
    await ledger.runs()
    await ledger.close()
    families = execute(address, "SELECT array_agg(thread ORDER BY id) FROM ledger_runs GROUP BY family ORDER BY 1")
    assert families == [(["other"],), (["t", "t", "fork"],)]
    begun = "SELECT thread, n, tool, digest, step FROM ledger_effects JOIN ledger_runs ON ledger_runs.id = run"
    assert execute(address, begun) == [("t", 1, "pay", digest({"amount": 980}), "paid")]
    assert execute(address, "SELECT version FROM ledger_schema") == [(VERSION,)]


async def test_tables_of_version_1_get_numbered_appends_and_keep_their_runs(address: str) -> None:
    ledger = open_ledger(address)
    first = await ledger.open_run("t", [STARTED])
    await ledger.close()
    as_version_1(address)
    ledger = open_ledger(address)
    since = (await ledger.changes()).position
    second = await ledger.open_run("t", [STARTED])
    assert (await ledger.changes(since)).runs == (second,)
    assert await ledger.runs() == [second, first]
    await ledger.close()
    assert execute(address, "SELECT version FROM ledger_schema") == [(VERSION,)]


@pytest.mark.parametrize("first", range(1, len(ADDED)))
def test_tables_of_a_build_between_get_what_they_lack(address: str, first: int) -> None:
    async def opened() -> None:
        ledger = open_ledger(address)
        await ledger.runs()
        await ledger.close()

    asyncio.run(opened())
    made = execute(address, COLUMNS)
    drop(
        address, *ADDED[first:], "CREATE INDEX IF NOT EXISTS ledger_index_due; CREATE TABLE IF NOT EXISTS ledger_turns"
    )
    execute(address, "ALTER TABLE ledger_index DROP COLUMN review")
    execute(address, "UPDATE ledger_schema SET version = 2")

    asyncio.run(opened())
    assert execute(address, COLUMNS) == made
    assert execute(address, "SELECT version FROM ledger_schema") == [(VERSION,)]


async def test_an_older_database_gets_the_new_tables_and_knows_its_artifacts(address: str) -> None:
    kept = keep("x" * 9_000)

    ledger = open_ledger(address)
    run = await ledger.open_run("t", [STARTED, drafted("call_finished", kept.fields(), "a")], [kept])
    await ledger.close()
    as_version_1(address)
    await open_ledger(address).remove([[await open_ledger(address).transcript(run)]], "os:ada")
    assert execute(address, "SELECT count(*) FROM ledger_artifacts") == [(0,)]
    assert execute(address, "SELECT version FROM ledger_schema") == [(VERSION,)]


async def test_standing_approvals_of_an_earlier_version_end_90_days_after_the_migration(address: str) -> None:
    before = time.time()
    ends = {"no end": None, "late": before + 1e9, "soon": before + 60.0}

    ledger = open_ledger(address)
    lasting = [
        StandingApproval(one, "pay", {}, 2, "f", "p", ("os:ada",), before, until=end) for one, end in ends.items()
    ]
    await ledger.write(await ledger.open_run("t", [STARTED]), [], after=0, given=lasting)
    await ledger.close()
    execute(address, "UPDATE ledger_schema SET version = 3")
    ledger = open_ledger(address)
    found = {use.approval.id: use.approval.until for use in await ledger.standing()}
    await ledger.close()
    left = found
    assert left["soon"] == ends["soon"] and left["late"] == left["no end"] is not None
    assert 0 <= left["late"] - before - LONGEST_S < 600


async def test_an_older_database_in_which_a_run_goes_on_is_left_as_it_is(address: str) -> None:
    ledger = open_ledger(address)
    async with ledger.owned(await ledger.open_run("t", [STARTED])):
        as_version_1(address)
        with pytest.raises(LedgerUnavailableError, match=r"t\.1 is being worked on"):
            Server(address).connect()
    await ledger.close()
    assert execute(address, "SELECT to_regclass('ledger_uses')") == [(None,)]
