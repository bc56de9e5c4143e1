"""The third-party plans, replayed through `build_graph` by their own checker, where `PLANS_DIR` names the folder."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PLANS = os.environ.get("PLANS_DIR", "")
ADAPTER = Path(__file__).with_name("adapter.py")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PLANS, reason="PLANS_DIR names no folder with the third-party plans"),
]


def check(*options: str, adapter: Path = ADAPTER) -> str:
    command = [sys.executable, str(Path(PLANS) / "check.py"), "--adapter", str(adapter), "--limit", "0", *options]
    root = str(Path(__file__).parents[2])
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": root}, check=False)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    return done.stdout


def median_makespan(report: str) -> float:
    found = re.search(r"makespan over critical path: median ([\d.]+)", report)
    assert found is not None, report
    return float(found[1])


def test_all_valid_plans_pass_close_to_their_critical_path() -> None:
    ours = check("--unit", "0.05")
    reference = check("--unit", "0.05", adapter=Path(PLANS) / "ref_adapter.py")

    assert "TOTAL 137/137 pass" in ours
    assert median_makespan(ours) <= median_makespan(reference) + 0.05


def test_results_that_look_like_references_stay_text() -> None:
    assert "TOTAL 137/137 pass" in check("--hostile", "--unit", "0.01", "--ratio", "9")


def test_dependencies_follow_from_references_alone() -> None:
    assert "TOTAL 137/137 pass" in check("--strip-depends", "--unit", "0.01", "--ratio", "9")


def test_malformed_plans_are_refused_before_any_tool_runs() -> None:
    report = check("--negatives")
    assert "refused before any tool ran: 137/137" in report and "accepted" not in report
