import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from planner_executor.graph.runs.runs import open_runs

Cli = Callable[..., Result]


def test_a_skipped_step_is_named_with_those_that_need_it(cli: Cli, waiting: str, folder: Path) -> None:
    result = cli("skip", waiting, "sum", "--why", "known")

    assert result.exit_code == 0
    assert "sum is skipped, and so is write" in result.stdout
    assert f"continue with: planner-executor resume {waiting}" in result.stdout
    assert cli("resume", waiting).exit_code == 3
    assert "known" in cli("resume", waiting, "--approve").stdout
    assert not (folder / "workspace" / "report.md").exists()


@pytest.mark.parametrize("value", ["43", "@value.json"])
def test_a_supplied_result_takes_the_place_of_the_step(cli: Cli, waiting: str, folder: Path, value: str) -> None:
    (folder / "value.json").write_text("43")
    assert cli("supply", waiting, "sum", value).exit_code == 0
    cli("resume", waiting)

    assert "it is 43" in cli("resume", waiting, "--approve").stdout


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["skip", "nowhere"], "has no step 'nowhere'; there are sum, write"),
        (["supply", "sum", "@nowhere.json"], "nowhere.json cannot be read"),
    ],
)
def test_a_change_that_cannot_be_made_says_why(cli: Cli, waiting: str, args: list[str], words: str) -> None:
    name, *rest = args
    result = cli(name, waiting, *rest)

    assert result.exit_code == 2 and words in result.stderr


def test_another_plan_for_a_paused_run_is_reviewed(cli: Cli, waiting: str, folder: Path) -> None:
    async def pause() -> None:
        async with open_runs(folder / "planner-executor.db") as runs:
            await runs.ledger.post(await runs.find(waiting), "pause")

    asyncio.run(pause())
    assert "paused" in cli("resume", waiting, "--approve").stdout
    (folder / "other.json").write_text(json.dumps({"steps": [{"id": "sum", "objective": "o", "gather": "another"}]}))

    assert cli("resume", waiting, "--edit", "other.json", "--approve").exit_code == 2
    assert cli("resume", waiting, "--edit", "other.json").exit_code == 3
    assert "another" in cli("resume", waiting, "--approve").stdout
    assert len(cli("runs").stdout.splitlines()) == 2
