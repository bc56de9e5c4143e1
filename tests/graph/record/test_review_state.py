"""What waits for a person, and what was decided."""

from dataclasses import replace
from typing import Any

import pytest

from planner_executor.graph.record.budget import Budget
from planner_executor.graph.record.call import WaitingCall
from planner_executor.graph.record.call_preview import CallPreview
from planner_executor.graph.record.events import (
    Arguments,
    CallRefused,
    Content,
    Decided,
    EarlierCall,
    Event,
    LateAnswer,
    ResponseGiven,
    ReviewEscalated,
    ReviewExpired,
    ReviewReminded,
    ReviewRequested,
    RunReopened,
    SettledWithPlan,
    StepHeld,
    StepUncertain,
)
from planner_executor.graph.record.review_state import Consent, ReviewState, refusal_digest
from planner_executor.graph.record.run_pass import Pass

SHOWN = ReviewRequested.from_json(
    {"request": 3, "subject": "s", "digest": "d", "error": None, "issues": [], "skip": 1, "checkpoint": "c1"}
)
PLAN = {"steps": [{"id": "a", "objective": "look", "tool": "look"}, {"id": "b", "objective": "pay", "tools": ["pay"]}]}
REFUSED = CallRefused(tool="send", args=Arguments({"to": "x"}), why="no grant", revision=1, checkpoint="c1")


def decided(state: ReviewState, seq: int = 4, **fields: Any) -> ReviewState:
    data = Decided(
        **{"digest": "d", "binding": "b", "decision": "approve", "by": "person", "checkpoint": "c2", **fields}
    )
    state.decided(Event(seq, "decided", None, 0.0, {}), data, Pass(1), plan=PLAN)
    return state


def test_a_decision_closes_the_request_and_is_found_at_its_checkpoint() -> None:
    state = ReviewState()
    state.review_requested(SHOWN, PLAN)
    assert state.request is not None and (state.request.shown.request, state.request.shown.skip) == (3, 1)

    decided(state)

    assert (state.request, state.requests) == (None, 3)
    assert state.decided_at["c2"].decision == "approve"


def test_an_approval_is_of_the_digest_and_terms_that_were_shown() -> None:
    approval = decided(ReviewState(), approver="ada").approval

    assert approval is not None
    assert (approval.seq, approval.digest, approval.binding, approval.approver) == (4, "d", "b", "ada")


def test_another_budget_binds_the_approval_to_other_terms() -> None:
    state = decided(decided(ReviewState()), 6, decision="budget", binding="b2", budget=Budget(tool_calls=9))

    assert state.approval is not None
    assert (state.approval.seq, state.approval.digest, state.approval.binding) == (4, "d", "b2")


def test_a_decision_without_approval_leaves_the_one_in_force() -> None:
    state = decided(decided(ReviewState()), 6, decision="settle", binding="b2")

    assert state.approval is not None and state.approval.binding == "b"


def test_the_last_two_decisions_are_told_apart() -> None:
    state = decided(decided(ReviewState()), 9)

    assert (state.decision_before_seq, state.last_decision_seq) == (4, 9)


def test_a_held_call_is_seen_once_a_person_has_decided_on_it() -> None:
    state = ReviewState()
    held = StepHeld(key="k", tool="send", args=Arguments({"to": "x"}), labels={}, revision=1)
    state.step_held(Event(5, "step_held", "a", 0.0, {}), held, Pass(held.revision))
    assert (state.held["k"].step, state.seen) == ("a", set())

    assert decided(state, 6, steps=("k",)).seen == {"k"}


def test_the_same_refusal_at_another_checkpoint_is_the_same() -> None:
    state = ReviewState()

    state.call_refused(Event(5, "call_refused", "a", 0.0, {}), REFUSED)

    again = CallRefused(tool="send", args=Arguments({"to": "x"}), why="no grant", revision=1, checkpoint="c9")
    assert refusal_digest("a", again) in state.refused
    assert refusal_digest("b", again) not in state.refused


def test_a_run_begins_with_nothing_asked_and_nothing_decided() -> None:
    state = ReviewState()

    assert (state.requests, state.last_decision_seq, state.decision_before_seq) == (0, 0, 0)


def test_what_an_old_record_leaves_out_is_empty() -> None:
    state = ReviewState()
    state.review_requested(replace(SHOWN, checkpoint=None), PLAN)

    approval = decided(state, checkpoint=None, digest=None, binding=None).approval

    assert approval is not None and (approval.digest, approval.binding) == ("", "")
    assert set(state.decided_at) == {""}


def test_another_budget_without_terms_voids_the_approval() -> None:
    state = decided(decided(ReviewState()), 6, decision="budget", binding=None, budget=Budget(tool_calls=9))

    assert state.approval is not None and state.approval.binding == ""


def test_a_budget_may_be_raised_before_anything_is_approved() -> None:
    assert decided(ReviewState(), decision="budget", budget=Budget(tool_calls=9)).approval is None


def test_a_held_call_names_the_other_runs_in_which_it_happened_once_each() -> None:
    state = ReviewState()
    before = (EarlierCall("k1", "t.1"), EarlierCall("own"), EarlierCall("k2", "t.2"), EarlierCall("k3", "t.1"))
    held = StepHeld(key="k", tool="send", args=Arguments({}), labels={}, revision=1, before=before)

    state.step_held(Event(5, "step_held", "a", 0.0, {}), held, Pass(held.revision))

    assert state.held["k"].before == ("t.1", "t.2")


def test_a_call_waits_for_others_as_the_work_of_its_step() -> None:
    state = ReviewState()
    waiting = StepUncertain(key="k", tool="send", args=Arguments({}), calls=(EarlierCall("o"),), revision=2)

    state.step_uncertain(Event(5, "step_uncertain", "a", 0.0, {}), waiting, Pass(waiting.revision))

    assert state.uncertain == {"k": WaitingCall("a", ("o",), Pass(2))}


def test_a_run_that_goes_on_under_a_raised_budget_binds_its_approval_to_it() -> None:
    state, raised = decided(ReviewState()), RunReopened(approver="x", budget=Budget(tool_calls=9), binding="b2")

    state.run_reopened(RunReopened(approver="x", binding="ignored"))
    assert state.approval is not None and state.approval.binding == "b"
    state.run_reopened(raised)
    assert state.approval is not None and state.approval.binding == "b2"
    state.run_reopened(replace(raised, binding=None))
    assert state.approval is not None and state.approval.binding == ""
    unapproved = ReviewState()
    unapproved.run_reopened(raised)
    assert unapproved.approval is None


def test_a_held_call_says_when_the_same_call_was_made_if_that_is_on_record() -> None:
    state = ReviewState()
    held = StepHeld(
        key="k", tool="send", args=Arguments({}), labels={}, revision=1, before=(EarlierCall("k1", "t.1", at=86_400.0),)
    )

    state.step_held(Event(5, "step_held", "a", 0.0, {}), held, Pass(held.revision))

    assert state.held["k"].before == ("t.1 on 1970-01-02 at 00:00 UTC",)


def asked_about(number: int = 3) -> ReviewState:
    state = ReviewState()
    state.review_requested(replace(SHOWN, request=number), PLAN)
    return state


def moments(state: ReviewState) -> tuple[float, float] | None:
    return (state.request.handled_s, state.request.escalated_s) if state.request is not None else None


def reminded(after_s: float, request: int = 3) -> ReviewReminded:
    return ReviewReminded(request=request, after_s=after_s, expires_at=9.0)


def escalated(after_s: float, request: int = 3) -> ReviewEscalated:
    return ReviewEscalated(request=request, after_s=after_s, expires_at=9.0)


def test_moments_of_a_deadline_are_noted_of_the_open_request_alone() -> None:
    state = asked_about()
    for moment in (escalated(20.0), reminded(30.0), reminded(10.0), escalated(15.0), escalated(40.0, request=2)):
        state.fell_due(moment)

    assert moments(state) == (30.0, 20.0)
    closed = ReviewState()
    closed.fell_due(reminded(5.0))
    assert closed.request is None


def test_what_fell_due_stays_known_if_the_same_request_is_shown_again_and_not_for_another() -> None:
    state = asked_about()
    state.fell_due(escalated(20.0))

    state.review_requested(SHOWN, PLAN)
    assert moments(state) == (20.0, 20.0)
    state.review_requested(replace(SHOWN, request=4), PLAN)
    assert moments(state) == (0.0, 0.0)


def test_a_request_that_expired_is_closed_and_its_calls_are_rejected_under_this_revision() -> None:
    state = asked_about()
    expired = ReviewExpired(request=3, subject="s", expired_at=9.0, on_expire="reject", rejected={"k": "too late"})
    state.expired(expired, Pass(2))

    assert (state.request, state.last_expired) == (None, expired)
    assert (state.rejection("k", Pass(2)), state.rejection("k", Pass(1)), state.rejection("x", Pass(2))) == (
        "too late",
        None,
        None,
    )
    state.run_reopened(RunReopened(again=(), approver="os:ada"))
    assert state.last_expired is None


def test_a_late_answer_is_known_by_its_checkpoint_if_it_has_one() -> None:
    state = ReviewState()
    for checkpoint in ("c7", None):
        state.answered_late(LateAnswer(request=3, error="too late", approver="os:ada", checkpoint=checkpoint))

    assert state.late_at == {"c7"}


def test_a_call_that_a_person_rejected_is_rejected_with_their_words_under_this_revision() -> None:
    state = decided(ReviewState(), decision="settle", rejected={"k": "not him"})

    assert state.rejection("k", Pass(1)) == "a person rejected this call: not him"
    assert state.rejection("k", Pass(2)) is None


def test_a_held_call_keeps_the_arguments_that_a_person_gave_when_it_is_held_again() -> None:
    held = StepHeld(key="k", tool="send", args=Arguments({"to": "x"}), labels={}, revision=1)
    state = ReviewState()
    state.step_held(Event(3, "step_held", "a", 0.0, {}), held, Pass(held.revision))
    assert (state.held["k"].args, state.held["k"].edited) == ({"to": "x"}, None)

    decided(state, decision="settle", replaced={"k": {"to": "y"}})
    state.step_held(Event(5, "step_held", "a", 0.0, {}), replace(held, revision=2), Pass(2))

    assert (state.held["k"].args, state.held["k"].event.args.shown) == ({"to": "y"}, {"to": "x"})


def test_requests_are_counted_by_plan_and_names_of_actions_and_one_shown_again_counts_once() -> None:
    state, plan = ReviewState(), ("run_plan",)
    shown = (
        replace(SHOWN, request=1, asked=plan),
        replace(SHOWN, request=1, asked=plan, error="not JSON"),
        replace(SHOWN, request=2, asked=plan),
        replace(SHOWN, request=3, asked=("run_step",)),
        replace(SHOWN, request=4, digest=None, asked=plan),
    )
    for request in shown:
        state.review_requested(request, PLAN)

    assert state.requests_about == {("d", plan): 2, ("d", ("run_step",)): 1, (None, plan): 1}
    assert [state.asked_before("d", plan, is_open=is_open) for is_open in (False, True)] == [2, 1]
    assert state.asked_before("e", plan, is_open=False) == 0


def test_a_person_has_to_respond_to_an_open_request_until_a_response_is_given() -> None:
    given, shown_again = asked_about(), asked_about()
    for state in (given, shown_again):
        state.response = ResponseGiven(request=3, digest="d", response=Content("yes"), approver="os:ada")
    shown_again.review_requested(SHOWN, PLAN)

    states = (ReviewState(), asked_about(), given, shown_again)
    assert [state.waits for state in states] == [False, True, False, True]


@pytest.mark.parametrize(("asked", "met"), [("run_plan", None), ("raise_budget", ())])
def test_an_approval_of_an_earlier_release_met_what_its_request_showed(asked: str, met: Any) -> None:
    state = ReviewState()
    state.review_requested(replace(SHOWN, asked=(asked,)), PLAN)

    approval = decided(state).approval

    assert approval is not None and approval.met == {"look": met, "pay": met}


@pytest.mark.parametrize(("voters", "by"), [((), ("ada",)), (("ada", "ben"), ("ada", "ben"))])
def test_a_call_that_is_approved_with_its_plan_is_by_all_who_did(voters: tuple[str, ...], by: tuple[str, ...]) -> None:
    state = decided(
        ReviewState(), approver="ada", voters=voters, with_plan=(SettledWithPlan(key="k", place="b", tool="pay"),)
    )

    assert state.with_plan == {"k": Consent((), by)}


@pytest.mark.parametrize(("asked", "shown"), [("run_plan", {"held", "seen", "plan"}), ("raise_budget", {"held"})])
def test_a_request_shows_the_previews_of_the_plan_if_it_is_about_it_and_of_the_calls_that_wait(
    asked: str, shown: set[str]
) -> None:
    state = ReviewState()
    state.previews.made(CallPreview(key=key, place="b", tool="pay", text="t") for key in ("held", "seen", "plan"))
    for key in ("held", "seen"):
        held = StepHeld(key=key, tool="pay", args=Arguments({}), labels={}, revision=1)
        state.step_held(Event(3, "step_held", "b", 0.0, {}), held, Pass(1))
    state.seen.add("seen")

    state.review_requested(replace(SHOWN, asked=(asked,)), PLAN)

    assert set(state.previews.shown) == shown


def test_an_approval_by_the_policy_leaves_what_people_met_as_it_was() -> None:
    rules = ({"names": ["ada"]},)
    by_policy, state = decided(ReviewState(), by="policy"), decided(ReviewState(), met={"pay": rules})
    approvals = [by_policy.approval, state.approval]
    other = {"steps": [PLAN["steps"][1], {"id": "c", "objective": "new", "tool": "new"}]}
    data = Decided(digest="e", binding="b", decision="approve", by="policy", message=None)
    state.decided(Event(9, "decided", None, 0.0, {}), data, Pass(2), plan=other)

    told = [(one.met, one.people_seq) for one in (*approvals, state.approval) if one is not None]

    assert told == [({}, 0), ({"look": (), "pay": rules}, 4), ({"pay": rules}, 4)]


def test_people_wait_for_since_the_first_request_that_nobody_has_responded_to() -> None:
    state, since = ReviewState(), []
    for number, at in ((3, 5.0), (3, 6.0), (4, 7.0)):
        state.review_requested(replace(SHOWN, request=number), PLAN, at)
        since.append(state.request and state.request.since)
    state.response = ResponseGiven(request=4, digest="d", response=Content("yes"), approver="os:ada")
    state.review_requested(replace(SHOWN, request=5), PLAN, 8.0)

    assert [*since, state.request and state.request.since] == [5.0, 5.0, 5.0, 8.0]


@pytest.mark.parametrize(("text", "seen"), [("pays 9", {"k"}), ("pays 90", set())])
def test_a_call_that_was_seen_is_to_be_seen_again_only_with_another_preview(text: str, seen: set[str]) -> None:
    state, shown = ReviewState(), CallPreview(key="k", place="b", tool="pay", text="pays 9")
    state.previews.made([shown])
    state.previews.were_shown(["k"])
    state.seen.add("k")

    again = StepHeld(
        key="k", tool="pay", args=Arguments({}), labels={}, revision=1, previewed=replace(shown, text=text)
    )
    state.step_held(Event(5, "step_held", "b", 0.0, {}), again, Pass(1))

    assert state.seen == seen
