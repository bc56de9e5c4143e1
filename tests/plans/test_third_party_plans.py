"""The third-party plans, replayed through `build_graph` by their own checker, where `PLANS_DIR` names the folder."""

import os
import random
import re
from pathlib import Path

import pytest
from warm_process import run_warm

PLANS = os.environ.get("PLANS_DIR", "")
ADAPTER = Path(__file__).with_name("clocked_adapter.py")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PLANS, reason="PLANS_DIR names no folder with the third-party plans"),
]


def check(*options: str) -> str:
    done = run_warm([str(Path(PLANS) / "check.py"), "--adapter", str(ADAPTER), "--limit", "0", *options], timeout=500)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    return done.stdout


def seed() -> int:
    return random.SystemRandom().randrange(10**6)


@pytest.mark.e2e
def test_all_valid_plans_take_as_long_as_their_critical_path() -> None:
    ours = check("--unit", "0.05")

    assert "TOTAL 137/137 pass" in ours and "makespan over critical path: median 1.000, max 1.000" in ours


@pytest.mark.e2e
def test_results_that_look_like_references_stay_text_and_dependencies_follow_from_references_alone() -> None:
    assert "TOTAL 137/137 pass" in check("--hostile", "--strip-depends")


def test_some_valid_plans_take_as_long_as_their_critical_path_whatever_their_results_look_like() -> None:
    """Some of each source, others in each run."""
    ours = check("--unit", "0.05", "--hostile", "--strip-depends", "--limit", "3", "--seed", str(seed()))

    passed, tried = re.search(r"TOTAL (\d+)/(\d+) pass", ours).groups()
    assert passed == tried and "makespan over critical path: median 1.000, max 1.000" in ours


def test_malformed_plans_are_refused_before_any_tool_runs() -> None:
    """Of each source and each way to break a plan some, others in each run."""
    report = check("--negatives", "--limit", "2", "--seed", str(seed()))

    refused = re.findall(r"refused before any tool ran: (\d+)/(\d+)", report)
    assert len(refused) >= 6 and all(int(those) == int(all_) > 0 for those, all_ in refused), report
    assert "accepted" not in report
