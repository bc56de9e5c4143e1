"""What a step has come to: an outcome with its events, or the reason why a person is needed first."""

from typing import Any

import pytest

from planner_executor.graph.calls.meter import LimitReached
from planner_executor.graph.calls.tool_call import CallHeld, CallUncertain, Finished, ToolCall
from planner_executor.graph.errors import CapReachedError
from planner_executor.graph.execution.step_outcome import StepAttempt, StepOutcome, not_now, pending
from planner_executor.graph.record.assessment import Assessment
from planner_executor.graph.record.check_result import Opinion
from planner_executor.graph.record.events import Draft, StepChecked
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.trust_label import USER

CALL = ToolCall("k", "a", 0, "send", {}, "d")
SENT, DOWN = Finished(CALL, StepResult("succeeded", "sent")), Finished(CALL, StepResult("failed", error="down"))
ATTEMPT = StepAttempt("a", "i", 1, 5.0)


def test_a_call_is_its_steps_outcome_and_is_written_unless_it_is_on_record() -> None:
    outcome, recorded = StepOutcome.of_call(SENT), StepOutcome.of_call(SENT, on_record=True)

    assert (outcome.step, outcome.events, outcome.called) == ("a", (SENT,), {"send": 1})
    assert (recorded.events, recorded.called) == ((), {"send": 1})
    assert StepOutcome.of_call(DOWN).called == {}


@pytest.mark.parametrize("met", [True, False])
def test_an_assessed_outcome_says_so_and_is_not_tried_again(met: bool) -> None:
    outcome = StepOutcome.of_call(SENT).assessed(Assessment((), Opinion("good", met, "so")), 3)

    assert outcome.result.status == ("succeeded" if met else "failed")
    first, second = outcome.events
    assert first is SENT and isinstance(second, Draft) and isinstance(second.data, StepChecked)
    assert (second.data.met, second.data.again, second.data.revision) == (met, False, 3)


@pytest.mark.parametrize(("given", "called"), [(None, {}), ({"send": 2}, {"send": 2})])
def test_a_success_counts_the_calls_that_led_to_it(given: Any, called: dict[str, int]) -> None:
    outcome = ATTEMPT.succeeded(7, USER, called=given)

    assert (outcome.called, outcome.value, outcome.result.started_at) == (called, 7, 5.0)


def test_of_several_reasons_for_a_person_all_calls_and_the_first_limit_are_named() -> None:
    outcome = not_now("a", CallUncertain(("k1",)), LimitReached("steps"), CallUncertain(("k2", "k3")))

    assert (outcome.result.status, outcome.uncertain_calls, outcome.limit) == ("uncertain", ("k1", "k2", "k3"), "steps")
    assert outcome.result.error == str(CallUncertain(("k1",)))


def test_a_step_that_waits_for_a_budget_or_for_a_look_is_pending() -> None:
    held = not_now("a", CallHeld("k", "a person has to see it first"))

    assert (held.result.status, held.uncertain_calls, held.limit) == ("pending", (), None)
    assert held.result.error == "a person has to see it first"
    assert not_now("a", LimitReached("steps")).result.status == "pending"


def test_a_cap_across_runs_holds_a_step_without_a_person_and_leaves_other_reasons_to_one() -> None:
    cap = CapReachedError("runs.db", "calls.send", "at most 1 call of send a day", 60.0)

    alone, beside = not_now("a", cap), not_now("a", CallHeld("k", "why"), cap)

    assert (alone.cap, alone.needs_person, alone.result.status) == (cap, False, "pending")
    assert alone.result.error == "at most 1 call of send a day"
    assert (beside.cap, beside.needs_person, beside.result.error) == (cap, True, "why")


def test_an_outcome_needs_nobody_unless_it_says_so() -> None:
    assert not StepOutcome.of_call(SENT).needs_person
    assert [pending("a", "why", needs_person=needs).needs_person for needs in (True, False)] == [True, False]
