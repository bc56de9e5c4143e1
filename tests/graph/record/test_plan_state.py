"""The revision in force, and what the next one has to answer."""

from dataclasses import replace
from typing import Any

import pytest

from planner_executor.graph.plan.issues import Issue
from planner_executor.graph.record.call import Call
from planner_executor.graph.record.comment import MOST_ANSWERED
from planner_executor.graph.record.events import Decided, PlanRefused, PlanRevised, ReviewRequested, RunForked, Steered
from planner_executor.graph.record.plan_state import NewEffect, PlanState
from planner_executor.graph.record.replacement import Replaced
from planner_executor.graph.record.run_pass import Pass

PLAN = {"steps": [{"id": "a", "tool": "send"}, {"id": "b", "tools": ["read"]}]}
SENDS = {"steps": [{"id": name, "objective": "o", "tool": "send", "args": {"to": name}} for name in ("a", "b")]}
FAILED = Replaced("x", ("send",))


def revised(state: PlanState, revision: int = 1, **fields: Any) -> PlanState:
    state.plan_revised(
        PlanRevised(**{"revision": revision, "plan": PLAN, "digest": f"d{revision}", "author": "planner", **fields})
    )
    return state


def decision(kind: str = "approve", by: str = "person", **fields: Any) -> Decided:
    return Decided(digest="d1", binding="b", decision=kind, by=by, **fields)


def test_a_revision_is_in_force_and_not_approved() -> None:
    state = revised(PlanState())

    assert (state.revision, state.plan, state.digest, state.awaits_plan) == (1, PLAN, "d1", False)
    assert state.approved_plan is None
    assert state.planned == {"a", "b"}


def test_every_step_that_was_ever_planned_is_known() -> None:
    assert revised(revised(PlanState()), 2, plan={"steps": [{"id": "c"}]}).planned == {"a", "b", "c"}


@pytest.mark.parametrize(
    ("author", "cause", "counted"),
    [
        ("replanner", "failure", (1, 0)),
        ("planner", "step", (0, 1)),
        ("planner", "horizon", (0, 1)),
        ("person", "failure", (0, 0)),
    ],
)
def test_replans_and_rounds_are_counted_by_their_cause(author: str, cause: str, counted: tuple[int, int]) -> None:
    state = revised(PlanState(), author=author, cause=cause)

    assert (state.replans, state.rounds) == counted


@pytest.mark.parametrize(("by", "left"), [("person", set()), ("policy", {"a"}), ("unseen", {"a"})])
def test_only_a_person_clears_steps_that_were_planned_with_untrusted_content(by: str, left: set[str]) -> None:
    state = revised(PlanState(), tainted=("a",), stalled="no progress")

    state.decided(decision(by=by))

    assert (state.tainted, state.stalled, state.approved_plan) == (left, None, PLAN)


@pytest.mark.parametrize(("by", "dropped"), [("person", ()), ("policy", ("x",))])
def test_only_a_person_approves_what_stands_in_for_a_failed_step(by: str, dropped: tuple[str, ...]) -> None:
    state = revised(PlanState(), replaced=(Replaced("x", ("send",), ("b",), "asked"),))

    state.decided(decision(by=by))

    assert state.dropped == dropped
    assert state.replaced_before == state.replaced


def test_feedback_asks_for_another_plan_until_there_is_one() -> None:
    state = revised(PlanState())

    state.decided(decision("feedback", message="cheaper"))

    assert (state.feedback, state.awaits_plan, state.approved_plan) == (["cheaper"], True, None)
    assert not revised(state, 2).awaits_plan


def test_amendments_add_up_until_the_next_revision() -> None:
    state = revised(PlanState())

    state.amended(Steered(constraints=("c",), added=("c",)))
    state.amended(Steered(constraints=("c",), feedback="be brief"))

    assert state.steered is not None and "c" in state.steered and "; " in state.steered
    assert state.feedback == ["be brief"]
    assert revised(state, 2).steered is None


def test_a_call_that_happened_leaves_nothing_to_make_up_for() -> None:
    state = revised(PlanState(), replaced=(FAILED, Replaced("y", ("send",))))

    state.call_happened(Call("k", "x", "send", {}, "d", repeatable=False, within=Pass(1), number=0))

    assert state.dropped == ("y",)


def test_an_approval_before_there_is_a_plan_approves_none() -> None:
    state = PlanState()

    state.decided(decision())

    assert (state.approved_plans, state.approved_by_people) == ({}, set())


@pytest.mark.parametrize(("by", "by_people"), [("person", {"d1"}), ("policy", set())])
def test_every_plan_that_was_approved_is_known_and_whether_people_approved_it(by: str, by_people: set[str]) -> None:
    state = revised(PlanState())
    state.decided(decision(by=by))

    revised(state, 2, plan=SENDS)

    assert (state.approved_plans, state.approved_by_people) == ({"d1": PLAN}, by_people)


def test_the_next_plan_responds_to_comments_once_for_each_step_and_to_as_many_as_it_is_asked_about() -> None:
    steps = ["z", "a", "z", *(f"s{number}" for number in range(MOST_ANSWERED))]
    comments = [{"step": step, "text": "shorter"} for step in steps]
    state = revised(PlanState())
    assert state.commented == ()

    state.decided(decision("feedback", decisions=({"decision": "feedback", "comments": comments},)))
    assert state.commented == ("z", "a", *steps[3:])[:MOST_ANSWERED]

    state.plan_refused(PlanRefused(author="planner", issues=(), stays="no shorter one"))
    assert state.commented == (), "the feedback was taken back"


def sending(state: PlanState, revision: int = 1, **tools: str) -> dict[str, NewEffect]:
    """Put a revision in force in which these calls of steps are new; return them by step."""
    new = {step: (tool,) for step, tool in tools.items()}
    revised(state, revision, plan=SENDS, tainted=("a", "b"), new_effects=new)
    return {one.step.id: one for one in state.effects_of()}


def test_new_calls_are_those_of_all_steps_or_of_some() -> None:
    state = PlanState()

    assert set(sending(state, a="send", b="send")) == {"a", "b"}
    assert [one.step.id for one in state.effects_of({"b", "c"})] == ["b"]
    assert [*state.effects_of(())] == []


def test_a_new_call_that_a_person_refused_stays_so_until_it_is_approved_under_its_own_name() -> None:
    state = PlanState()
    new = sending(state, a="send", b="send")
    assert not state.has_refused

    state.decided(decision(rejected={new["a"].key: "not this one"}))
    assert (state.has_refused, state.refused_effects, state.tainted) == (True, {new["a"].digest}, {"a"})

    sending(state, 2, b="send")
    assert not state.has_refused, "the plan has it no more"

    again = sending(state, 3, a="send", b="send")
    assert state.has_refused, "another call beside it does not matter"

    state.decided(decision(steps=(again["b"].key,)))
    assert (state.has_refused, state.tainted) == (True, {"a"})

    state.decided(decision(steps=(again["a"].key,)))
    assert (state.has_refused, state.tainted) == (False, set())


@pytest.mark.parametrize(
    ("revision", "author", "is_edited"),
    [(2, "state", True), (1, "state", False), (2, "planner", False), (2, "person", False)],
)
def test_a_plan_is_edited_if_it_was_put_in_place_of_another_beside_a_review(
    revision: int, author: str, is_edited: bool
) -> None:
    assert revised(PlanState(), revision, author=author).is_edited is is_edited
    assert not PlanState().is_edited


@pytest.mark.parametrize("by_look", [True, False])
def test_the_revision_in_force_says_whether_looks_alone_taint_it(by_look: bool) -> None:
    assert revised(PlanState(), by_look=by_look).is_by_look is by_look
    assert not PlanState().is_by_look


def test_an_old_record_names_only_the_steps_that_were_dropped() -> None:
    state = revised(PlanState())
    state.decided(decision())

    assert revised(state, 2, dropped=("a",)).replaced == (Replaced("a", ("send",)),)


def test_a_step_may_call_the_tool_that_the_plan_gives_it() -> None:
    state = revised(PlanState())

    assert state.may_call("a", "send") and not state.may_call("a", "read")
    assert state.may_call("gone", "send")


def test_the_issues_are_those_of_the_plan_refused_last() -> None:
    state = PlanState()

    state.plan_refused(PlanRefused(author="planner", issues=()))

    assert (state.issues, state.awaits_plan) == ((), True)


def test_a_run_begins_without_a_plan() -> None:
    state = PlanState()

    assert (state.revision, state.awaits_plan, state.may_call("a", "send")) == (0, True, True)


def test_a_revision_is_known_by_its_checkpoint_its_digest_and_the_failures_that_it_answers() -> None:
    state = revised(revised(PlanState(), failures=("f1",)), 2, checkpoint="c2", failures=("f2",))

    assert {checkpoint: data.revision for checkpoint, data in state.revised_at.items()} == {"": 1, "c2": 2}
    assert (state.digests, state.failures) == (["d1", "d2"], {"f1", "f2"})


def test_feedback_may_be_without_words() -> None:
    state = revised(PlanState())

    state.decided(decision("feedback"))

    assert state.feedback == [""]


def test_the_first_amendment_stands_alone() -> None:
    state = revised(PlanState())

    state.amended(Steered(constraints=(), feedback="be brief"))

    assert state.steered is not None and ";" not in state.steered


def test_a_fork_keeps_what_its_source_planned_with_untrusted_content() -> None:
    state = PlanState()

    state.run_forked(RunForked(source="t.1", tainted=("a",)))

    assert state.tainted == {"a"}


def test_a_run_that_goes_on_after_an_end_asks_models_anew() -> None:
    state = PlanState(issues=(Issue("a", "tool", "unknown"),))
    assert (state.reopened, state.after_retries) == (0, "")

    state.run_reopened()

    assert (state.after_retries, state.issues) == (":retry 1", ())


def requested(digest: str, *asked: str) -> ReviewRequested:
    return ReviewRequested(request=1, digest=digest, subject="s", asked=asked, error=None)


def test_what_was_shown_last_is_kept_with_what_was_shown_before() -> None:
    state = revised(PlanState())
    state.review_requested(requested("d1", "run_plan"))
    assert state.seen_other_than("d1") is None

    revised(state, 2)
    assert (state.seen_other_than("d2") or state.seen_before).revision == 1  # type: ignore[union-attr]
    state.review_requested(requested("d2", "run_plan"))
    state.review_requested(requested("d2", "run_plan"))

    before = state.seen_other_than("d2")
    assert before is not None and (before.revision, before.digest, before.plan) == (1, "d1", PLAN)


@pytest.mark.parametrize("event", [requested("d1", "run_step"), requested("d0", "run_plan")])
def test_a_request_that_does_not_show_the_plan_leaves_it_unseen(event: ReviewRequested) -> None:
    state = revised(PlanState())

    state.review_requested(event)

    assert state.seen is None


@pytest.mark.parametrize(("by", "seen"), [("person", 1), ("policy", None), ("unseen", None)])
def test_a_plan_that_a_person_approved_was_seen(by: str, seen: int | None) -> None:
    state = revised(PlanState())

    state.decided(decision(by=by))

    assert (state.seen.revision if state.seen else None, state.approved_revision) == (seen, 1)
    again = state.seen_other_than("d1")
    assert (again.revision if again else None) == seen


def test_a_run_begins_with_nothing_approved_proposed_or_said() -> None:
    state = PlanState()

    assert (state.approved_revision, state.feedback_rounds, state.feedback_answered) == (0, 0, 0)
    assert not state.is_proposed and state.seen is None


@pytest.mark.parametrize(
    ("kind", "digest", "proposed"),
    [("propose", "d1", True), ("propose", None, False), ("approve", "d1", False), ("settle", None, False)],
)
def test_a_plan_that_others_have_to_approve_is_proposed_until_the_next_decision(
    kind: str, digest: str | None, proposed: bool
) -> None:
    state = revised(PlanState())
    state.decided(Decided(digest=digest, binding="b", decision=kind, by="person"))

    assert state.is_proposed == proposed
    state.decided(decision())
    assert not state.is_proposed


def test_feedback_that_no_plan_came_of_is_taken_back_and_still_counts_as_a_round() -> None:
    state = revised(PlanState())
    for words in ("cheaper", "faster"):
        state.decided(decision("feedback", message=words))
        if words == "cheaper":
            revised(state, 2)

    state.plan_refused(PlanRefused(author="planner", issues=(), stays="no cheaper one"))

    assert (state.feedback, state.feedback_rounds) == (["cheaper"], 2)
    assert (state.unchanged, state.awaits_plan) == ("no cheaper one", False)


def test_why_a_plan_stays_is_said_until_the_next_decision() -> None:
    state = revised(PlanState())
    issue = Issue("a", "tool", "is unknown")
    state.plan_refused(PlanRefused(author="planner", issues=(issue,)))
    state.decided(decision("settle"))
    assert state.issues == (issue,)

    state.plan_refused(PlanRefused(author="planner", issues=(issue,), stays="no other"))
    state.decided(decision("settle"))

    assert (state.issues, state.unchanged) == ((), None)


def test_a_plan_is_seen_once_however_often_it_is_shown() -> None:
    state = revised(PlanState())
    shown = ReviewRequested.from_json(
        {"request": 1, "subject": "s", "digest": "d1", "error": None, "issues": [], "skip": 0, "asked": ["run_plan"]}
    )
    for _ in range(2):
        state.review_requested(shown)
    assert state.seen is not None and (state.seen.digest, state.seen_before) == ("d1", None)

    revised(state, 2)
    state.review_requested(replace(shown, digest="d2"))

    assert state.seen is not None and state.seen_before is not None
    assert (state.seen.digest, state.seen_before.digest) == ("d2", "d1")


@pytest.mark.parametrize("how", ["feedback", "an amendment"])
@pytest.mark.parametrize(("by", "left"), [("person", False), ("policy", True)])
def test_what_a_person_has_said_counts_until_a_person_approves_the_plan_that_follows(
    how: str, by: str, left: bool
) -> None:
    state = revised(PlanState())
    assert not state.is_wished

    if how == "feedback":
        state.decided(decision("feedback", message="shorter"))
    else:
        state.amended(Steered(constraints=("be kind",), added=("be kind",)))
    assert revised(state, 2).is_wished

    state.decided(decision(by=by))
    assert state.is_wished is left
