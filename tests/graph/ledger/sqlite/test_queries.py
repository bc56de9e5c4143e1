"""Which runs are looked into for calls that a person has to be asked about."""

from contextlib import closing
from pathlib import Path

from planner_executor.graph.ledger.sqlite.connection import Connection
from planner_executor.graph.ledger.sqlite.ledger import SqliteLedger
from planner_executor.graph.ledger.tables.families import other_runs
from planner_executor.graph.ledger.tables.schema import TO_KNOW
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.testing import drafted

STARTED = drafted("run_started", {"goal": "g", "constraints": []})
BEGUN = drafted(
    "call_started", {"key": "k", "call": 0, "tool": "pay", "args": {}, "repeatable": False, "revision": 1}, "a"
)
ENDED = drafted("call_finished", {"call": 0, "status": "succeeded", "value": "a long receipt " * 100}, "a")


async def test_runs_in_which_all_went_well_are_not_read_and_an_index_finds_the_others(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"

    ledger = SqliteLedger(path)
    for drafts in ([BEGUN, ENDED],) * 5 + ([BEGUN],):
        await ledger.open_run("t", [STARTED, *drafts])
    await ledger.close()

    with closing(Connection(str(path))) as db:
        assert other_runs(db, RunKey("t", 9), is_fork=False).to_know == [RunKey("t", 6)]
        query = f"SELECT n FROM ledger_runs JOIN ledger_events ON run = id WHERE thread = 't' AND {TO_KNOW}"
        assert "ledger_to_know" in str(db.ask(f"EXPLAIN QUERY PLAN {query}"))
