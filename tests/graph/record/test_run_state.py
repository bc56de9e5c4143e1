"""Questions that need several values of a run's state."""

from dataclasses import replace
from typing import Any

import pytest

from planner_executor.graph.plan.canonical import digest
from planner_executor.graph.record.budget import Budget
from planner_executor.graph.record.call import AskedCall, Call, HeldCall, RejectedCall, WaitingCall
from planner_executor.graph.record.calls import Calls
from planner_executor.graph.record.deadline import Deadline
from planner_executor.graph.record.events import (
    Arguments,
    Configuration,
    ResponseGiven,
    ReviewRequested,
    RunEnded,
    RunReopened,
    StepHeld,
    Voted,
)
from planner_executor.graph.record.events.content import NO_CONTENT
from planner_executor.graph.record.people import People
from planner_executor.graph.record.plan_state import PlanState
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.review_state import RecordedRequest, ReviewState
from planner_executor.graph.record.run_pass import Pass
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.record.spending import BudgetExhausted, Spending
from planner_executor.graph.record.steps import Steps

IN_FORCE = PlanState(revision=1, awaits_plan=False)


def held_call(key: str, step: str = "a", number: int = 0, item: int | None = None) -> HeldCall:
    return HeldCall(step, StepHeld(key=key, tool="send", args=Arguments(), revision=1, call=number, item=item), Pass(1))


WAITS = ReviewState(held={"h": held_call("h")}, uncertain={"w": WaitingCall("a", ("k", "gone"), Pass(1))})
CALL = Call("k", "a", "send", {}, "d", repeatable=False, within=Pass(1), number=0)


def state(plan_state: PlanState = IN_FORCE, steps: Steps | None = None) -> RunState:
    return RunState(plan_state=plan_state, review_state=WAITS, calls=Calls({"k": CALL}), steps=steps or Steps())


def test_calls_wait_for_a_person_under_the_plan_in_force() -> None:
    assert [held.event.key for held in state().waiting_calls] == ["h"]
    assert state().uncertain_calls == {"a": [CALL]}


@pytest.mark.parametrize(
    "over",
    [
        state(PlanState(revision=2, awaits_plan=False)),
        state(PlanState(revision=1, awaits_plan=True)),
        state(steps=Steps({"a": StepResult("succeeded")})),
    ],
    ids=["another revision", "another plan is awaited", "the step succeeded"],
)
def test_no_call_waits_for_a_person_if_its_step_is_not_to_be_done(over: RunState) -> None:
    assert (over.waiting_calls, over.uncertain_calls) == ([], {})


@pytest.mark.parametrize(("revision", "waiting"), [(1, []), (0, ["h"])], ids=["under this revision", "before it"])
def test_a_rejected_call_waits_again_only_under_another_revision(revision: int, waiting: list[str]) -> None:
    over = state()
    over.review_state = replace(WAITS, rejected={"h": RejectedCall("too dear", Pass(revision))})

    assert [held.event.key for held in over.waiting_calls] == waiting


def test_waiting_calls_have_the_order_of_the_plan_of_items_and_of_calls() -> None:
    places: list[tuple[str, int | None, int]] = [("z", None, 0), ("a", 0, 0), ("a", 1, 0), ("a", 1, 1), ("m", None, 2)]
    calls = [held_call(f"k{at}", step, n, i) for at, (step, i, n) in enumerate(places)]
    plan = {"steps": [{"id": name} for name in ("z", "a", "m")]}
    for held in (calls, calls[::-1], calls[2:] + calls[:2]):
        review = ReviewState(held={call.event.key: call for call in held})
        found = RunState(plan_state=replace(IN_FORCE, plan=plan), review_state=review).waiting_calls
        assert found == calls


def test_two_waiting_calls_of_one_step_have_an_order_even_without_a_plan_to_read() -> None:
    held = {f"k{number}": held_call(f"k{number}", number=number) for number in (1, 0)}
    over = RunState(plan_state=IN_FORCE, review_state=ReviewState(held=held))

    assert [call.event.call for call in over.waiting_calls] == [0, 1]


def test_a_run_lacks_a_plan_if_the_budget_does_not_allow_to_ask_for_one() -> None:
    short = Spending(shortage=BudgetExhausted("model_calls", ()))

    assert RunState(spending=short).lacks_plan
    assert not RunState(plan_state=IN_FORCE, spending=short).lacks_plan
    assert not RunState().lacks_plan


STEERED = PlanState(revision=1, awaits_plan=False, steered="the user added: be kind")


@pytest.mark.parametrize(
    ("plan_state", "prevents_planning", "is_short", "lacks"),
    [
        (STEERED, True, True, True),
        (STEERED, False, True, False),
        (STEERED, True, False, False),
        (IN_FORCE, True, True, False),
    ],
)
def test_a_run_that_was_steered_lacks_a_plan_once_the_budget_has_prevented_another(
    plan_state: PlanState, prevents_planning: bool, is_short: bool, lacks: bool
) -> None:
    shortage = BudgetExhausted("model_calls", ()) if is_short else None
    spending = Spending(shortage=shortage, prevents_planning=prevents_planning)

    assert RunState(plan_state=plan_state, spending=spending).lacks_plan is lacks


def test_a_model_begins_a_step_anew_only_if_no_call_of_it_may_have_acted() -> None:
    failed = Steps()
    failed.failed["a", None] = 2

    assert RunState(steps=failed).begins_anew("a", None) == 2
    acted = Calls({"k": CALL}, keys_of={"a": ["k"]})
    assert RunState(calls=acted, steps=failed).begins_anew("a", None) == 0
    failed.run_reopened(RunReopened(again=("a",), approver="os:ada"))
    assert RunState(calls=acted, steps=failed).begins_anew("a", None) == 2, "a retry is a person's wish"


@pytest.mark.parametrize(
    ("asked", "asks"),
    [
        (AskedCall((), "s", Pass(1)), ["k"]),
        (AskedCall((), "s", Pass(1), resumed=True), []),
        (AskedCall((), "s", Pass(1), forms={}), []),
        (AskedCall((), "s", Pass(2)), []),
        (None, []),
    ],
    ids=["open", "started again", "answered", "of another plan", "never asked"],
)
def test_a_call_asks_until_it_is_answered_or_started_again(asked: AskedCall | None, asks: list[str]) -> None:
    run = RunState(plan_state=IN_FORCE, calls=Calls({"k": CALL._replace(asked=asked)}))

    assert [call.key for call in run.asking_calls] == asks


@pytest.mark.parametrize(
    ("same", "numbers"),
    [
        ({}, {1, 2}),
        ({"item": 3}, set()),
        ({"tool": "look"}, set()),
        ({"args_digest": digest({"to": "y"})}, set()),
        ({"step": "b"}, set()),
    ],
    ids=["the same", "another item", "another tool", "other arguments", "another step"],
)
def test_what_a_model_asked_for_before_is_known_by_its_numbers_whether_made_or_held(
    same: dict[str, Any], numbers: set[int]
) -> None:
    to_x = {"to": "x"}
    made = {key: CALL._replace(key=key, number=n, args_digest=digest(to_x)) for key, n in (("k0", 0), ("k1", 1))}
    held = {
        key: HeldCall("a", StepHeld(key=key, tool="send", args=Arguments(to_x), revision=1, call=n), Pass(1))
        for key, n in (("h0", 0), ("h2", 2))
    }
    run = RunState(review_state=ReviewState(held=held), calls=Calls(made, keys_of={"a": [*made]}))

    assert (
        run.asked_again(**{"step": "a", "item": None, "tool": "send", "args_digest": digest(to_x), **same}) == numbers
    )


def test_the_size_of_a_run_is_its_events_and_the_steps_of_its_plan() -> None:
    assert RunState(seq=7).size == 7
    assert RunState(seq=7, plan_state=replace(IN_FORCE, plan={"steps": [{"id": "a"}, {"id": "b"}]})).size == 9


def test_a_run_spends_within_the_limits_of_its_policy() -> None:
    settings: Any = {"policy": {"limits": {"tool_calls": 3, "per_day": {"tool_calls": 1}}}}
    run = RunState(spending=Spending(budget=Budget(tool_calls=5, steps=2)))

    for known in (
        {"settings": settings},
        {"limits": {"tool_calls": 3}},
    ):  # an earlier release kept the whole policy there
        run.assignment = replace(run.assignment, configuration=Configuration.from_json(known))
        assert run.bounds == Budget(tool_calls=3, steps=2)


def test_a_run_begins_before_its_first_event() -> None:
    assert (RunState().seq, RunState().control_seq) == (0, 0)


def test_a_call_that_was_seen_or_settled_waits_no_more() -> None:
    over = state()
    over.review_state = ReviewState(held=WAITS.held, seen={"h"}, uncertain=WAITS.uncertain)
    over.calls = Calls({"k": CALL._replace(nothing_happened=True)})

    assert (over.waiting_calls, over.uncertain_calls) == ([], {})


def test_a_review_is_closed_with_the_votes_on_it() -> None:
    vote = Voted(request=1, subject="s", says="d", missing="one more", approver="server:bob")
    request = RecordedRequest(ReviewRequested(request=1, subject="s"))
    run = RunState(review_state=ReviewState(request=request), people=People(votes={"s": {"bob": vote}}))

    run.close_review()

    assert (run.review_state.request, run.people.votes) == (None, {})


def test_something_is_due_for_an_open_request_from_its_next_moment_on() -> None:
    asked = RecordedRequest(ReviewRequested(request=1, subject="s", deadline=Deadline(1_000.0, 100.0)))
    over = RunState(review_state=ReviewState(request=asked))
    others = (
        ReviewState(),
        ReviewState(request=asked._replace(shown=replace(asked.shown, deadline=None))),
        ReviewState(request=asked, response=ResponseGiven(request=1, digest="d", response=NO_CONTENT, approver="ada")),
    )

    assert over.is_due(1_100.0) and not over.is_due(1_099.0)
    assert not any(RunState(review_state=other).is_due(2_000.0) for other in others)
    assert not replace(over, ended=RunEnded(status="rejected", reason="stop")).is_due(2_000.0)
