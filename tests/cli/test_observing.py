import json
import subprocess
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

Cli = Callable[..., Result]


def lines(result: Result) -> list[dict]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_a_run_is_lines_of_json_and_ends_with_what_is_asked(cli: Cli) -> None:
    result = cli("run", "add", "--plan", "plan.json", "--json")

    told = lines(result)
    assert result.exit_code == 3 and told[0]["event"] == "run_started" and told[-1]["event"] == "waiting"
    assert told[-1]["payload"]["action_requests"][0]["name"] == "run_plan"


def test_a_run_that_goes_on_is_lines_of_json_to_its_end(cli: Cli, waiting: str) -> None:
    result = cli("resume", waiting, "--approve", "--json")

    assert result.exit_code == 0 and lines(result)[-1]["event"] == "run_ended"
    assert lines(result)[-1]["payload"]["status"] == "succeeded"


def test_metrics_are_printed_for_prometheus(cli: Cli, waiting: str) -> None:
    result = cli("metrics")

    assert result.exit_code == 0 and "planner_executor_runs_total 1\n" in result.stdout


@pytest.mark.slow
def test_metrics_can_be_scraped(command: Callable[..., list[str]], cli: Cli, waiting: str, folder: Path) -> None:
    with subprocess.Popen(command("metrics", "--listen", "0"), stdout=subprocess.PIPE, text=True) as serving:
        assert serving.stdout is not None
        with urllib.request.urlopen(serving.stdout.readline().strip()) as answer:
            words = answer.read().decode()
        serving.terminate()

    assert "planner_executor_runs_total 1\n" in words
