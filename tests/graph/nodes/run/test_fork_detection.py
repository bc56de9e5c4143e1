"""An old state: a run of its own, or the same run once more after a crash."""

from dataclasses import replace
from typing import Any

import pytest

from planner_executor.graph.nodes.run.context import RunContext
from planner_executor.graph.nodes.run.fork_detection import is_after_the_end, is_fork
from planner_executor.graph.record.events import Event
from planner_executor.graph.record.projection import project
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.testing import step, whole_payload

PLAN = {"steps": [step("a", "look")]}
OTHER = {"steps": [step("b", "look")]}


def run_at(checkpoint: str, *events: tuple[str, dict[str, Any]], invocation: str | None = None) -> RunContext:
    """Return a run with these events after its plan, as a node at a checkpoint reads it."""
    first: tuple[tuple[str, dict[str, Any]], ...] = (
        ("run_started", {"thread": "t", "n": 1, "goal": "g", "constraints": [], "invocation": "i1"}),
        ("plan_revised", {"revision": 1, "plan": PLAN, "digest": "d", "author": "planner", "checkpoint": "c1"}),
    )
    told = enumerate((*first, *events), 1)
    record = project([Event(seq, kind, None, 1.0, whole_payload(kind, payload)) for seq, (kind, payload) in told])
    return RunContext(None, None, RunKey("t", 1), record, checkpoint, invocation=invocation)  # type: ignore[arg-type]


def decided(by: str, checkpoint: str = "c2") -> tuple[str, dict[str, Any]]:
    return "decided", {"decision": "approve", "by": by, "digest": "d", "binding": "b", "checkpoint": checkpoint}


def state(seq: int, plan: Any = PLAN) -> dict[str, Any]:
    return {"run": {"thread": "t", "n": 1, "seq": seq}, "plan": plan}


SETTLED: tuple[str, dict[str, Any]] = ("decided", {**decided("person", "c3")[1], "decision": "settle"})
ENDED: tuple[str, dict[str, Any]] = ("run_ended", {"status": "succeeded", "reason": "done", "value": 1})


def test_a_state_that_knows_the_last_decision_is_no_fork() -> None:
    assert not is_fork(run_at("new", decided("person")), state(3))


def test_a_state_from_before_a_decision_of_a_person_is_a_fork() -> None:
    assert is_fork(run_at("new", decided("person")), state(2))
    assert is_fork(run_at("new", decided("unseen")), state(2))
    assert is_fork(run_at("new", SETTLED), state(2)), "nothing is approved, but a call is settled"


def test_the_checkpoint_at_which_the_decision_was_written_is_run_again_and_is_no_fork() -> None:
    assert not is_fork(run_at("c2", decided("person")), state(2))


@pytest.mark.parametrize(
    ("more", "seen", "plan", "forks"),
    [
        ((), 2, PLAN, False),
        ((), 2, OTHER, True),
        ((), 2, None, True),
        ((ENDED,), 2, PLAN, True),
        ((decided("policy", "c3"),), 2, PLAN, True),
        ((decided("policy", "c3"),), 3, PLAN, False),
        ((decided("person", "c3"),), 3, PLAN, True),
        ((SETTLED,), 3, PLAN, True),
    ],
    ids=[
        "the same plan",
        "another plan",
        "no plan",
        "ended",
        "two decisions",
        "the later of two",
        "a person's since",
        "a call settled since",
    ],
)
def test_what_only_the_policy_let_pass_since_passes_again(
    more: tuple[Any, ...], seen: int, plan: Any, forks: bool
) -> None:
    assert is_fork(run_at("made anew", decided("policy"), *more), state(seen, plan)) is forks


@pytest.mark.parametrize(("invocation", "forks"), [("i1", False), ("i2", True)])
def test_an_invocation_that_a_server_repeats_forks_nothing_however_old_its_state(invocation: str, forks: bool) -> None:
    assert is_fork(run_at("new", decided("policy"), ENDED, invocation=invocation), state(2)) is forks


def test_another_plan_in_a_finished_thread_is_a_run_of_its_own() -> None:
    run = run_at("new", ENDED)

    assert is_after_the_end(run, state(3, OTHER))
    assert not is_after_the_end(run, state(3, PLAN)), "it is the plan that ran"
    assert not is_after_the_end(run, state(3, None))
    assert not is_after_the_end(run, state(3, {"steps": [], "answer": 42})), "a direct answer is no other plan"
    assert not is_after_the_end(run_at("c1", ENDED), state(3, OTHER)), "a node ran here before the end"
    assert not is_after_the_end(run_at("new"), state(3, OTHER)), "it has not ended"


def test_another_plan_after_the_end_is_no_new_wish_if_the_previous_node_left_it() -> None:
    run = run_at("later", ENDED)

    assert is_after_the_end(run, state(3, OTHER))
    assert not is_after_the_end(replace(run, goes_on=True), state(3, OTHER)), "another process ended the run meanwhile"


def test_a_state_that_the_previous_node_left_forks_nothing_though_somebody_has_decided_since() -> None:
    run = run_at("later", decided("person"))

    assert is_fork(run, state(2)) and not is_fork(replace(run, goes_on=True), state(2))
