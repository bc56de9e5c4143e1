"""A sample of the kills of `make faults`: every boundary of a run is counted, every n-th is killed at."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("boundaries.py")
pytestmark = pytest.mark.slow


@pytest.mark.parametrize("durability", ["sync", "async"])
def test_a_run_survives_kills_at_sampled_boundaries(tmp_path: Path, durability: str) -> None:
    first = random.SystemRandom().randint(1, 10)
    options = ["--durability", durability, "--every", "10", "--from", str(first)]
    root = str(Path(__file__).parents[2])

    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(tmp_path / "kills"), *options],
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": root}, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 runs at fault" in done.stdout
