"""Wall clocks that jump an hour either way change nothing: the ledger and our savers say what comes after what."""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from warm_process import run_warm

SCRIPT = Path(__file__).with_name("shifted_clock.py")
ANSWERS: list[Any] = [
    None,
    {"approve": True, "answers": {"who": "ann"}},
    {"answers": {"more": "bob"}},
    {"answers": {"last": "eve"}},
    None,
]
SAID = ["waiting plan who", "waiting more", "waiting last", "succeeded", "succeeded"]
SHIFTS = [
    (0, -3600, 0, 3600, 0),
    (0, 3600, -3600, 0, -3600),
    (3600, 0, -3600, 0, 3600),
]
"""By how much the clock is off at the start, at each answer, and at a look afterwards."""
pytestmark = pytest.mark.slow


@pytest.mark.parametrize("shifts", SHIFTS, ids=str)
@pytest.mark.parametrize("in_one_process", [False, True])
def test_each_request_is_asked_once_and_each_effect_happens_once(
    tmp_path: Path, database: str, shifts: tuple[int, ...], in_one_process: bool
) -> None:
    moves = list(zip(shifts, ANSWERS, strict=True))
    parts = [moves] if in_one_process else [[move] for move in moves]

    said = [_process(database, tmp_path / "log", part) for part in parts]

    assert list(itertools.chain(*said)) == SAID
    assert (tmp_path / "log").read_text().split() == ["ann", "bob", "eve"]


def _process(database: str, log: Path, moves: list[Any]) -> list[str]:
    done = run_warm([str(SCRIPT), database, str(log), json.dumps(moves)])
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()
