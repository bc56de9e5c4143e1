"""Runs behind a pooler that gives a connection to another process after each transaction."""

import asyncio
from collections import Counter
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest
from pgbouncer import POOL, pooled_database
from postgres_server import execute
from working_agents import COUNT, PACE, Shop, plan_of

from planner_executor import AsyncAgent
from planner_executor.graph.checkpoints.checkpoint import open_checkpointer
from planner_executor.graph.ledger.postgres.notices import _Serving, _Waiting
from planner_executor.graph.ledger.postgres.server import Server, advice, is_pooled
from planner_executor.graph.testing import ScriptedModel
from planner_executor.graph.work.continuing import BySession
from planner_executor.graph.work.worker import Worker

pytestmark = [pytest.mark.slow, pytest.mark.e2e]

CONNECTIONS = """
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
"""
LOCKS = """
    SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = database
    WHERE locktype = 'advisory' AND datname = current_database()
"""


@pytest.mark.parametrize("tells_directly", [True, False])
async def test_runs_and_workers_share_fewer_connections_than_they_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tells_directly: bool
) -> None:
    with pooled_database() as (address, direct):
        if tells_directly:
            monkeypatch.setenv("PLANNER_EXECUTOR_DB_DIRECT", direct)
        log = tmp_path / "paid.log"
        await _work(address, log)
        assert set(Counter(log.read_text().split()).values()) == {1}
        assert execute(direct, CONNECTIONS)[0][0] <= POOL


async def _work(address: str, log: Path) -> None:
    """Approve runs, break them off, and let two workers end them."""
    held = Shop(log, hold=True, kill_at=0)
    async with AsyncAgent.open(address, planner=ScriptedModel([]), tools=held.tools()) as agent:
        names = [f"run{n}" for n in range(COUNT - 1)]
        runs = [await agent.start("pay", plan=plan_of(name), thread=name) for name in names]
        going = [asyncio.create_task(agent.resume(run.id, "approve")) for run in runs]
        while held.looked < len(runs):
            await asyncio.sleep(0)
        for task in going:
            task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*going, return_exceptions=True)
    own = Shop(log, hold=False, kill_at=0).tools()
    async with AsyncAgent.open(address, planner=ScriptedModel([]), tools=own) as agent:
        way = BySession(await agent._open.get())
        workers = [Worker(agent.runs, way, concurrency=4, pace=PACE) for _ in range(2)]
        await asyncio.gather(*(worker.run(once=True) for worker in workers))
        assert {run.status for run in await agent.list()} == {"succeeded"}


def test_a_pooler_is_recognized_and_nobody_listens_through_it() -> None:
    with pooled_database() as (address, direct):
        for of, listens in ((address, False), (direct, True)):
            serving = _Serving(Server(of), _Waiting(is_listened=True))
            serving._pass_on()
            assert serving._connection is not None and serving._listens is listens
            assert is_pooled(serving._connection) is not listens
            serving._connection.close()


def test_tables_are_made_by_several_at_once_and_no_lock_stays_behind() -> None:
    async def opened(address: str) -> None:
        async with open_checkpointer(address):
            pass

    async def main(address: str) -> None:
        await asyncio.gather(*(opened(address) for _ in range(3)))

    with pooled_database() as (address, direct):
        asyncio.run(main(address))
        assert execute(direct, LOCKS) == [(0,)]


def test_a_schema_in_the_address_is_refused_with_the_way_to_set_it() -> None:
    """PgBouncer before 1.20 refuses it; later ones keep it only before a server that reports it, PostgreSQL 18."""
    with pooled_database() as (address, _):
        try:
            execute(f"{address}&options=-csearch_path%3Dagent", "SELECT 1")
        except psycopg.OperationalError as error:
            assert "ALTER ROLE agent SET search_path = agent" in advice(error)
