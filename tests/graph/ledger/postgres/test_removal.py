import pytest
from postgres_server import execute, new_schema

from planner_executor import Agent
from planner_executor.graph.ledger.drivers import open_ledger
from planner_executor.graph.ledger.postgres.thread_tables import TABLES
from planner_executor.graph.ledger.tables.schema import OF_A_RUN
from planner_executor.graph.policy.retention import Retention
from planner_executor.graph.runs.retention import missing, prune
from planner_executor.graph.testing import ScriptedModel

pytestmark = pytest.mark.e2e


async def test_a_pruned_thread_leaves_no_row_in_any_table_of_runs_or_checkpoints() -> None:
    address = new_schema()
    with Agent.open(address, planner=ScriptedModel([])) as agent:
        agent.start("a goal", plan={"steps": [], "answer": 42}, thread="t")
    assert execute(address, "SELECT count(*) FROM checkpoints")[0][0] > 0

    ledger = open_ledger(address)
    done = await prune(ledger, Retention(before=float("inf")), "os:ada")
    assert done.threads == {"t": ("t.1",)} and done.is_smaller
    _, findings = await missing(ledger)
    await ledger.close()
    assert findings == []
    for table in (*TABLES, "ledger_runs", "ledger_artifacts", *OF_A_RUN):
        assert execute(address, f"SELECT count(*) FROM {table}") == [(0,)], table


async def test_every_table_of_runs_is_emptied() -> None:
    address = new_schema()
    await open_ledger(address).runs()
    columns = "SELECT table_name FROM information_schema.columns WHERE table_schema = current_schema()"

    assert {name for (name,) in execute(address, f"{columns} AND column_name = 'run'")} == set(OF_A_RUN)
