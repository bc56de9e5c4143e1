"""Two workers, one killed in the middle: each run goes on once, no effect happens twice, and no run is lost."""

import os
import signal
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from warm_process import WarmProcess, run_warm
from working_agents import COUNT

from planner_executor.graph.record.run_filter import RunFilter
from planner_executor.graph.runs.runs import open_runs

SCRIPT = Path(__file__).with_name("working_agents.py")
pytestmark = pytest.mark.slow


async def test_runs_of_a_killed_process_and_of_a_killed_worker_go_on_elsewhere(tmp_path: Path, database: str) -> None:
    log = tmp_path / "paid.log"
    begun = run_warm([str(SCRIPT), "begin", database, str(log)], cwd=tmp_path, timeout=120)
    assert begun.returncode == -signal.SIGKILL and not log.exists(), begun.stderr

    with tempfile.TemporaryFile() as output:
        words = [[str(SCRIPT), "work", database, str(log), kill_at] for kill_at in ("1", "0")]
        workers = [WarmProcess(each, stdout=output.fileno(), cwd=tmp_path, env=os.environ) for each in words]
        codes = [worker.wait(120) for worker in workers]
        output.seek(0)
        assert codes == [-signal.SIGKILL, 0], output.read().decode()

    paid = Counter(log.read_text().split())
    assert max(paid.values()) == 1
    stands = await standing(database)
    assert len(stands) == COUNT and set(stands.values()) <= {"succeeded", "waiting: settle_effect"}
    assert 1 <= sum(status != "succeeded" for status in stands.values()) <= 4
    done = [name for name, status in stands.items() if status == "succeeded"]
    assert {f"{name}-{n}" for name in done for n in (1, 2)} <= paid.keys()


async def standing(database: str) -> dict[str, str]:
    """Return thread -> status, with what is asked."""
    async with open_runs(database) as runs:
        for name in await runs.ledger.runs():
            await runs.ledger.events(name)
        found = await runs.page(RunFilter(limit=COUNT + 1))
        return {run.thread: f"{run.status}: {', '.join(run.asks)}" if run.asks else run.status for run in found}
