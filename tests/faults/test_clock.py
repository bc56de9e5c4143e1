"""Wall clocks that jump an hour either way between processes change nothing: order and end are the ledger's."""

from pathlib import Path

import pytest
from postgres_server import new_schema
from warm_process import run_warm

SCRIPT = Path(__file__).with_name("shifted_clock.py")
pytestmark = pytest.mark.slow


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.e2e)])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return new_schema() if request.param == "postgres" else str(tmp_path / "runs.db")


@pytest.mark.parametrize("shift_s", [-3600, 3600])
def test_a_finished_run_stays_finished_and_each_effect_happens_once(
    tmp_path: Path, database: str, shift_s: int
) -> None:
    log = tmp_path / "effects.log"

    def process(shift_s: int, decision: str = "null") -> str:
        done = run_warm([str(SCRIPT), database, str(shift_s), decision, str(log)])
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert process(0) == "waiting"
    assert process(shift_s, '"approve"') == "succeeded"
    assert process(0) == "succeeded"
    assert process(-shift_s) == "succeeded"

    assert log.read_text().split() == ["a", "b"]
