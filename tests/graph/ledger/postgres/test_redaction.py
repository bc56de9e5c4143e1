"""A value is taken out of ledger and checkpoints in a PostgreSQL database, and a run that waits goes on."""

import pytest
from postgres_server import execute, new_schema

from planner_executor import Agent
from planner_executor.graph.testing import ScriptedModel, step

pytestmark = pytest.mark.e2e

SECRET = "ada@example.org"
PLAN = {"steps": [step("a", "calculator", expression="40 + 2")]}
TABLES = "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()"


def cells(address: str) -> list[bytes]:
    """Return all that is stored, in any table, as bytes."""
    tables = [name for (name,) in execute(address, TABLES)]
    rows = [row for table in tables for row in execute(address, f"SELECT * FROM {table}")]
    return [cell if isinstance(cell, bytes) else str(cell).encode() for row in rows for cell in row]


def test_a_value_is_out_of_every_table_and_the_run_goes_on() -> None:
    address = new_schema()
    with Agent(address, planner=ScriptedModel([PLAN])) as agent:
        run = agent.start(f"Compute 40 + 2 for {SECRET}", thread="t")
        assert run.status == "waiting" and any(SECRET.encode() in cell for cell in cells(address))
        done = agent.redact("t", SECRET, reason="asked for")
        assert done.remaining == () and done.checkpoints > 0
        assert not any(SECRET.encode() in cell for cell in cells(address))
        assert agent.verify("t").is_whole

    with Agent(address, planner=ScriptedModel([])) as agent:
        shown_anew = agent.resume("t", True)  # the request reads otherwise now, so that it is shown again
        assert shown_anew.status == "waiting" and SECRET not in str(shown_anew.request)
        run = agent.resume("t", True)
        assert (run.status, run.answer) == ("succeeded", 42)


def test_what_another_thread_holds_is_named() -> None:
    address = new_schema()
    with Agent(address, planner=ScriptedModel([PLAN, PLAN])) as agent:
        for thread in ("t", "other"):
            agent.start(f"Compute 40 + 2 for {SECRET}", thread=thread)
        assert {"run other.1", "checkpoints of thread other"} <= set(
            agent.redact("t", SECRET, reason="asked for").remaining
        )
