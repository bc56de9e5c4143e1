from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

Cli = Callable[..., Result]


def test_a_fork_starts_a_run_with_the_result_that_is_set(cli: Cli, waiting: str, folder: Path) -> None:
    cli("resume", waiting, "--approve")
    result = cli("fork", waiting, "--from", "sum", "--set", "sum=43")

    assert result.exit_code == 3 and f"forked from {waiting}" in cli("audit", latest(cli)).stdout
    assert "it is 43" in cli("resume", latest(cli), "--approve").stdout


def test_a_setting_of_a_model_stays_one(cli: Cli, waiting: str) -> None:
    result = cli("fork", waiting, "--from", "sum", "--set", "planner.temperature=0.2")

    assert result.exit_code == 3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--from", "nowhere"], "has no step 'nowhere'; there are sum, write"),
        (["--from", "sum", "--set", "sum"], "'sum' is not STEP=JSON"),
        (["--from", "sum", "--set", "sum=1", "--set", "sum=2"], "sum is set twice"),
        (["--from", "sum", "--set", "nothing.temperature=1"], "nothing"),
    ],
)
def test_a_fork_that_cannot_be_is_refused(cli: Cli, waiting: str, options: list[str], words: str) -> None:
    result = cli("fork", waiting, *options)

    assert result.exit_code == 2 and words in result.stderr
    assert len(cli("runs").stdout.splitlines()) == 2


def latest(cli: Cli) -> str:
    return cli("runs").stdout.splitlines()[1].split()[0]
