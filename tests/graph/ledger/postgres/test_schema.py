"""Tables of an earlier version are brought up when they are opened."""

import asyncio

import pytest
from postgres_server import execute, new_schema

from graph.ledger.opening import open_ledger
from graph.testing import drafted

pytestmark = pytest.mark.e2e

STARTED = drafted("run_started", {"goal": "g", "constraints": []})
VERSION_1 = """
    ALTER TABLE ledger_appends DROP COLUMN runs, DROP COLUMN number;
    CREATE INDEX ledger_appends_at ON ledger_appends (at);
    UPDATE ledger_schema SET version = 1
"""


def test_tables_of_version_1_get_numbered_appends_and_keep_their_runs() -> None:
    address = new_schema()

    async def main() -> None:
        ledger = open_ledger(address)
        first = await ledger.open_run("t", [STARTED])
        await ledger.close()
        execute(address, VERSION_1)
        ledger = open_ledger(address)
        since = (await ledger.changes()).position
        second = await ledger.open_run("t", [STARTED])
        assert (await ledger.changes(since)).runs == (second,)
        assert await ledger.runs() == [second, first]
        await ledger.close()

    asyncio.run(main())
    assert execute(address, "SELECT version FROM ledger_schema") == [(2,)]
