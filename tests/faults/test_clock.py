"""Wall clocks that jump an hour either way between processes change nothing: order and end are the ledger's."""

from pathlib import Path

import pytest
from warm_process import run_warm

SCRIPT = Path(__file__).with_name("shifted_clock.py")
pytestmark = pytest.mark.slow


def process(database: Path, shift_s: int, decision: str = "null") -> str:
    done = run_warm([str(SCRIPT), str(database), str(shift_s), decision])
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("shift_s", [-3600, 3600])
def test_a_finished_run_stays_finished_and_each_effect_happens_once(tmp_path: Path, shift_s: int) -> None:
    database = tmp_path / "runs.db"

    assert process(database, 0) == "waiting"
    assert process(database, shift_s, '"approve"') == "succeeded"
    assert process(database, 0) == "succeeded"
    assert process(database, -shift_s) == "succeeded"

    assert Path(f"{database}.effects").read_text().split() == ["a", "b"]
