import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

Cli = Callable[..., Result]

SUITE = """
[[cases]]
id = "sum"
goal = "What is 2 + 3?"
checks = [{ matches = "^5$" }]

[[cases]]
id = "wrong"
goal = "What is 2 + 4?"
checks = [{ matches = "^5$" }]
"""


@pytest.fixture(autouse=True)
def suite(folder: Path) -> Path:
    (folder / "sums.toml").write_text(SUITE)
    return folder / "sums.toml"


def test_without_a_model_the_rules_plan_and_it_says_which_arm_is_left_out(cli: Cli) -> None:
    result = cli("eval", "sums.toml")

    assert result.exit_code == 0
    assert "cannot act as the direct agent" in result.output
    assert "✓ 1/4 sum replanning 1" in result.output
    assert "✗ 3/4 wrong static 1" in result.output and "not found in '6'" in result.output
    assert "replanning vs static" in result.output
    kept = json.loads(Path("evaluations/sums/results.json").read_text())
    assert [arm["met"] for arm in kept["summary"]["arms"]] == [1, 1]
    assert Path("evaluations/sums/results.svg").read_text().startswith("<svg")


def test_a_second_time_nothing_is_left_to_do(cli: Cli) -> None:
    cli("eval", "sums.toml", "--out", "here")
    before = Path("here/results.json").read_bytes()

    result = cli("eval", "sums.toml", "--out", "here")

    assert result.exit_code == 0
    assert "1/4" not in result.output
    assert "static" in result.output
    assert Path("here/results.json").read_bytes() == before


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("repetitions", "repetitoins"), "repetitoins"),
        (("checks = [{ matches", "checks = [{ macthes"), "macthes"),
        (("[[cases]]", 'tools = ["calculatr"]\n[[cases]]'), "calculatr"),
        (("[[cases]]", 'tools = ["web_search"]\n[[cases]]'), "allow"),
    ],
)
def test_what_cannot_work_is_one_sentence(cli: Cli, suite: Path, change: tuple[str, str], told: str) -> None:
    suite.write_text(f"repetitions = 1\n{SUITE}".replace(*change, 1))

    result = cli("eval", "sums.toml")

    assert result.exit_code == 2
    assert told in result.output
    assert len(result.stderr.splitlines()) == 1


def test_a_model_that_costs_money_needs_a_budget(cli: Cli) -> None:
    result = cli("eval", "sums.toml", "--planner", "openai:gpt-5-mini", "--set", "planner.base_url=http://127.0.0.1:9")

    assert result.exit_code == 2
    assert "budget" in result.stderr


@pytest.mark.e2e
def test_an_evaluation_that_is_killed_goes_on_where_it_was(cli: Cli, suite: Path) -> None:
    suite.write_text(f"repetitions = 4\n{SUITE}")
    results = Path("evaluations/sums/results.json")
    command = [sys.executable, "-c", "from planner_executor.graph.cli import app; app()", "eval", "sums.toml"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, env=os.environ) as process:
        while not results.exists() and process.poll() is None:
            time.sleep(0.01)
        process.kill()
    before = json.loads(results.read_text())["trials"]

    result = cli("eval", "sums.toml")

    after = json.loads(results.read_text())["trials"]
    assert result.exit_code == 0
    assert 0 < len(before) < 16 == len(after)
    assert after[: len(before)] == before
