"""Two processes at a cap of the day: together they make as many calls as it allows, and no more."""

import os
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from capped_agent import CAP, RUNS
from warm_process import WarmProcess

SCRIPT = Path(__file__).with_name("capped_agent.py")
pytestmark = pytest.mark.slow


def test_two_processes_share_a_cap_and_one_has_the_last_call(tmp_path: Path, database: str) -> None:
    log = tmp_path / "paid.log"
    with tempfile.TemporaryFile() as output:
        words = [[str(SCRIPT), database, str(log), name] for name in ("one", "two")]
        processes = [WarmProcess(each, stdout=output.fileno(), cwd=tmp_path, env=os.environ) for each in words]
        codes = [process.wait(120) for process in processes]
        output.seek(0)
        said = Counter(output.read().decode().split())

    assert codes == [0, 0], said
    assert len(log.read_text().split()) == said["succeeded"] == CAP
    assert said["paused"] == 2 * RUNS - CAP
