"""kill -9 in a run with a budget: what was spent stays spent, what was under way counts, and nothing is spent twice."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest
from budgeted_run import TOKENS, called, options
from warm_process import run_warm

from planner_executor import Agent
from planner_executor.graph.runs.run import Run

SCRIPT = Path(__file__).with_name("budgeted_run.py")
pytestmark = pytest.mark.slow
WHOLE = ["planner", "a", "fails", "replanner", "again", "executor", "b thought"]
"""What is called in a run that nothing happens to."""


def killed(folder: Path, budget: dict[str, Any], kill_at: str) -> None:
    done = run_warm([str(SCRIPT), str(folder), json.dumps(budget), kill_at], cwd=folder)
    assert done.returncode == -signal.SIGKILL, done.stderr


def resumed(folder: Path, **said: Any) -> Run:
    """Go on as another process that knows of no budget: the run's own is in the file."""
    with Agent.open(folder / "runs.db", **options(folder)) as agent:
        return agent.resume("t", agent.show("t").decide(**said)) if said else agent.resume("t")


def shortage(run: Run) -> tuple[str, dict[str, Any]]:
    """Return which limit is asked about, and what was spent."""
    assert run.request is not None
    (action,) = run.request["action_requests"]
    return action["description"].split("limit of ")[1].split(" ")[0], action["args"]["spent"]


@pytest.mark.parametrize(
    ("budget", "kill_at", "limit", "more"),
    [
        ({"tool_calls": 3}, "again", "tool_calls", {"tool_calls": 5}),
        ({"calls": {"look": 3}}, "again", "calls.look", {"calls": {"look": 5}}),
        ({"model_calls": 1}, "planner", "model_calls", {"model_calls": 4}),
        ({"model_calls": 2}, "replanner", "model_calls", {"model_calls": 4}),
        ({"model_calls": 3}, "executor", "model_calls", {"model_calls": 4}),
        ({"tokens": 3_000}, "planner", "tokens", {"tokens": 20_000}),
        ({"tokens": 3 * TOKENS}, "replanner", "tokens", {"tokens": 20_000}),
        ({"cost_usd": 3.0}, "replanner", "cost_usd", {"cost_usd": 20.0}),
    ],
)
def test_a_call_that_was_under_way_counts_and_the_run_checks_in_before_it_is_made_again(
    tmp_path: Path, budget: dict[str, Any], kill_at: str, limit: str, more: dict[str, Any]
) -> None:
    killed(tmp_path, budget, kill_at)
    before = called(tmp_path)

    run = resumed(tmp_path)

    named, spent = shortage(run)
    assert named == limit and called(tmp_path) == before == WHOLE[: len(before)]
    assert spent.get("tool_calls", 0) == sum(name in ("a", "fails", "again", "b thought") for name in before)
    assert spent["model_calls"] == sum(name in ("planner", "replanner", "executor") for name in before)
    answered = sum(name in ("planner", "replanner", "executor") for name in before[:-1])
    assert spent["tokens"] >= answered * TOKENS and (spent["tokens"] > answered * TOKENS) == (kill_at != "again")

    ended = resumed(tmp_path, limits=more)
    assert (ended.status, ended.answer) == ("succeeded", "saw b thought")
    assert called(tmp_path) == [*before, *WHOLE[len(before) - 1 :]]


@pytest.mark.parametrize("kill_at", ["a", "replanner", "executor"])
def test_steps_and_replans_that_were_begun_count_once_however_often_they_are_taken_up(
    tmp_path: Path, kill_at: str
) -> None:
    killed(tmp_path, {"steps": 4, "replans": 1}, kill_at)

    run = resumed(tmp_path)

    assert (run.status, run.answer) == ("succeeded", "saw b thought")
    assert [name for name in WHOLE if called(tmp_path).count(name) != 1] == [kill_at]


def test_a_budget_that_was_raised_is_what_the_next_process_finds(tmp_path: Path) -> None:
    killed(tmp_path, {"tool_calls": 3}, "again")
    resumed(tmp_path)

    resumed(tmp_path, limits={"tool_calls": 4})
    limit, spent = shortage(resumed(tmp_path))

    assert (limit, spent["tool_calls"]) == ("tool_calls", 4)
    assert called(tmp_path).count("again") == 2 and "b thought" not in called(tmp_path)
