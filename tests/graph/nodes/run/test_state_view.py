"""What the state shows of a run, and whether it shows just that."""

from typing import Any

import pytest

from planner_executor.graph.nodes.run.context import RunContext
from planner_executor.graph.nodes.run.state_view import (
    is_shown_by,
    state_at_end,
    state_update,
    state_while_waiting,
    state_with_plan,
)
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.record.events import Event
from planner_executor.graph.record.projection import project
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.state import is_proven
from planner_executor.graph.testing import whole_payload

PLAN = Plan(steps=(Step(id="a", objective="look", tool="look"), Step(id="b", objective="pay", tool="pay")))
DONE: tuple[str, str | None, dict[str, Any]] = (
    "step_finished",
    "a",
    {"status": "succeeded", "value": "x", "inputs": "i", "revision": 1, "started_at": 1.0},
)
ENDED: tuple[str, str | None, dict[str, Any]] = (
    "run_ended",
    None,
    {"status": "partial", "reason": "b failed", "value": "x"},
)


def run_with(*events: tuple[str, str | None, dict[str, Any]], **more: Any) -> RunContext:
    first: tuple[tuple[str, str | None, dict[str, Any]], ...] = (
        ("run_started", None, {"thread": "t", "n": 1, "goal": "g", "constraints": ["c"]}),
        ("plan_revised", None, {"revision": 1, "plan": PLAN.to_json(), "digest": PLAN.digest, "author": "planner"}),
    )
    told = enumerate((*first, *events), 1)
    record = project([Event(seq, kind, of, 1.0, whole_payload(kind, payload)) for seq, (kind, of, payload) in told])
    return RunContext(None, None, RunKey("t", 1), record, "c", **more)  # type: ignore[arg-type]


def waiting(run: RunContext) -> dict[str, Any]:
    return {**state_while_waiting(run, PLAN), "status": "waiting", "route": "review"}


def test_the_status_follows_from_the_route() -> None:
    run = run_with()

    shown = {route: state_update(run, route)["status"] for route in ("plan", "revise", "announce", "review", "execute")}
    assert shown == {
        "plan": "planning",
        "revise": "planning",
        "announce": "waiting",
        "review": "waiting",
        "execute": "running",
    }


def test_an_update_names_the_run_and_what_the_state_said_of_it() -> None:
    assert state_update(run_with(), "plan")["run"] == {"thread": "t", "n": 1, "id": "t.1", "seq": 2}
    assert state_update(run_with(named={"n": 1, "seq": 10**9}), "plan")["run"]["saw"] == [1, 10**9]


def test_a_plan_that_the_state_has_is_not_written_again() -> None:
    assert "plan" not in state_with_plan(run_with(shown=PLAN.to_json()), PLAN, "execute")
    assert state_with_plan(run_with(), PLAN, "execute")["plan"] == PLAN.to_json()


async def test_an_end_is_shown_as_on_record_and_proven() -> None:
    update = await state_at_end(run_with(DONE, ENDED))

    assert (update["route"], update["status"], update["reason"], update["answer"]) == (
        "end",
        "partial",
        "b failed",
        "x",
    )
    assert [result["status"] for result in update["results"].values()] == ["succeeded", "pending"]
    assert is_proven({key: value for key, value in update.items() if key != "messages"})


@pytest.mark.parametrize(
    "written",
    [
        {"status": "running"},
        {"route": "execute"},
        {"route": "odd"},
        {"goal": "another"},
        {"constraints": []},
        {"digest": "0" * 64},
        {"revision": 7},
        {"answer": "forged"},
        {"reason": "forged"},
        {"issues": [{"step": "a"}]},
        {"results": {}},
        {"results": ["x"]},
        {"results": {"a": {"status": "succeeded", "value": "forged"}}},
        {"results": {"a": {"status": "pending", "value": None}}},
    ],
    ids=repr,
)
def test_what_a_client_wrote_is_not_what_the_run_shows(written: dict[str, Any]) -> None:
    run = run_with(DONE)

    assert is_shown_by(run, waiting(run), PLAN)
    assert not is_shown_by(run, {**waiting(run), **written}, PLAN)


def test_a_checkpoint_from_before_the_route_shows_the_run_too() -> None:
    run = run_with(DONE)

    assert is_shown_by(run, {**waiting(run), "route": None}, PLAN)


def test_the_executor_may_say_more_of_a_step_that_came_to_no_end() -> None:
    run = run_with(DONE)
    state = waiting(run)
    state["results"] = {**state["results"], "b": {"status": "uncertain", "value": None, "error": "timed out"}}

    assert is_shown_by(run, state, PLAN)
