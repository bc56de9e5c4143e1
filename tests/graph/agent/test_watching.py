"""A watched run is drawn when it changes, and no longer than it changes."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from planner_executor import Agent
from planner_executor.graph.agent.watching import PAUSE_S, SHARE, STILL, watch_until_still
from planner_executor.graph.errors import ConfigError
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.runs.run import Run
from planner_executor.graph.testing import LoggedTools, PassingClock, step

PLAN = {"steps": [step("a", "look", name="x"), step("b", "look", name="y", after=["a"])]}


@pytest.fixture
def waiting(tools: LoggedTools) -> Run:
    with Agent.open(":memory:", tools=[tools.tool("look", lambda name: name, effect="read")]) as agent:
        return agent.start("g", plan=PLAN)


def with_a(run: Run, status: Any) -> Run:
    at = StepResult(status, started_at=1.0, ended_at=None if status == "running" else 2.0)
    return replace(run, status="running", request=None, results={"a": at})


def watched(*seen: Run, look_s: float = 0.0) -> tuple[list[str], list[float]]:
    """Return what is drawn as HTML, and the pauses, if these are seen one after the other and the last one stays."""
    left, drawn, clock = list(seen), list[str](), PassingClock()

    async def look() -> Run:
        clock.now += look_s
        return left.pop(0) if len(left) > 1 else left[0]

    async def done() -> None:
        draw = lambda bundle: drawn.append(bundle["text/html"])  # noqa: E731
        await watch_until_still(look, draw, clock.clock.now, clock.clock.sleep)

    asyncio.run(done())
    return drawn, clock.waits


def test_a_run_is_drawn_as_it_goes_on_with_the_times_of_its_steps_until_it_has_ended(waiting: Run) -> None:
    ended = replace(with_a(waiting, "succeeded"), status="succeeded")

    drawn, _ = watched(waiting, with_a(waiting, "running"), with_a(waiting, "succeeded"), ended)

    assert len(drawn) == 4
    assert all("Timeline of 2 steps" in html and "Plan of 2 steps" in html for html in drawn)


def test_what_has_not_changed_is_not_drawn_again_however_long_it_takes(waiting: Run) -> None:
    at_work, ended = with_a(waiting, "running"), replace(with_a(waiting, "succeeded"), status="failed")

    drawn, waits = watched(*[at_work] * 40, ended)

    assert (len(drawn), len(waits)) == (2, 40)


def test_a_run_that_waits_and_is_taken_up_meanwhile_is_watched_on(waiting: Run) -> None:
    ended = replace(with_a(waiting, "succeeded"), status="succeeded")

    drawn, _ = watched(*[waiting] * STILL, with_a(waiting, "running"), ended)

    assert len(drawn) == 3


@pytest.mark.parametrize("status", ["waiting", "paused"])
def test_a_run_that_stands_still_is_left_with_its_picture(waiting: Run, status: Any) -> None:
    drawn, waits = watched(replace(waiting, status=status))

    assert (len(drawn), waits) == (1, [PAUSE_S] * STILL)


def test_a_long_look_is_followed_by_a_longer_pause(waiting: Run) -> None:
    _, waits = watched(waiting, look_s=2.0)

    assert waits == [2.0 * SHARE] * STILL


def test_outside_of_a_notebook_watching_names_what_to_do_instead(tmp_path: Path) -> None:
    with Agent.open(tmp_path / "runs.db") as agent, pytest.raises(ConfigError, match=r"none; pass on_progress=print"):
        agent.watch("demo.1")
