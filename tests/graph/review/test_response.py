from dataclasses import replace
from typing import Any

import pytest

from planner_executor.graph.errors import InputError
from planner_executor.graph.review.content import PlanContent
from planner_executor.graph.review.decision import read_answer
from planner_executor.graph.review.request import ReviewAction, ReviewRequest
from planner_executor.graph.review.response import (
    ReviewResponse,
    allowed,
    asked,
    build_response,
    call_names,
    can_approve,
    new_calls,
    settled_steps,
)

PLAN = ReviewAction("run_plan", {"plan": {"steps": []}}, "")
CALL = ReviewAction("run_step", {"step": "send", "tool": "mail", "args": {"to": "eve"}}, "", key="k1")
OTHER_CALL = ReviewAction("run_step", {"step": "send", "tool": "mail", "args": {"to": "ann"}}, "", key="k2")
GATE = ReviewAction("run_step", {"step": "look", "tool": "gate", "args": {}}, "")
CITY = ReviewAction("answer_question", {"step": "city", "question": "Which {city}?", "answer": None}, "")
DAY = ReviewAction("answer_question", {"step": "day", "question": "When?", "answer": None}, "")
DOUBT = ReviewAction("settle_effect", {"step": "pay", "tool": "pay", "args": {}, "happened": None, "result": None}, "")
BUDGET = ReviewAction(
    "raise_budget", {"budget": {"tool_calls": 2, "calls": {"mail": 1}}, "spent": {"tool_calls": 2}}, ""
)
EVERYTHING = (PLAN, GATE, CALL, CITY, DAY, DOUBT, DOUBT, BUDGET)


def request(*actions: ReviewAction) -> ReviewRequest:
    return ReviewRequest(run="t.1", revision=1, digest="d" * 64, binding="b" * 64, actions=actions)


def decisions(said: ReviewResponse, *actions: ReviewAction) -> list[dict[str, Any]]:
    answer = build_response(request(*actions).to_json(), said)
    read_answer(answer, request(*actions))  # the review understands it
    assert answer["digest"] == request(*actions).digests[1]
    return answer["decisions"]


def args_of(decision: dict[str, Any]) -> dict[str, Any]:
    return decision["edited_action"]["args"]


def test_everything_at_once_is_answered_in_order() -> None:
    said = ReviewResponse(
        approve=True,
        answers={"day": "today", "city": "Oslo"},
        happened=(False, True),
        results=("17",),
        limits={"tool_calls": 9, "calls": {"send": 3}},
    )

    made = decisions(said, *EVERYTHING)

    assert made[:3] == [{"type": "approve"}] * 3
    assert [args_of(one)["answer"] for one in made[3:5]] == ["Oslo", "today"]
    assert [(args_of(one)["happened"], args_of(one)["result"]) for one in made[5:7]] == [(False, None), (True, "17")]
    assert args_of(made[7])["budget"] == {"tool_calls": 9, "calls": {"mail": 1, "send": 3}}


def test_feedback_rejects_uncertain_calls_unless_it_comes_with_what_became_of_them() -> None:
    words = {"type": "reject", "message": "ask the bank"}
    assert decisions(ReviewResponse(feedback="ask the bank"), DOUBT, PLAN) == [words, words]

    (left_open,) = decisions(ReviewResponse(feedback="ask the bank"), DOUBT)
    assert (left_open["type"], left_open["message"]) == ("reject", "ask the bank")
    settled, plan = decisions(ReviewResponse(feedback="ask the bank", happened=(True,)), DOUBT, PLAN)
    assert args_of(settled)["happened"] is True and plan == words


def test_another_plan_takes_the_place_of_the_one_shown() -> None:
    (made,) = decisions(ReviewResponse(plan={"steps": [1]}), PLAN)

    assert (made["type"], args_of(made)) == ("edit", {"plan": {"steps": [1]}})


def test_feedback_sends_all_back_and_keeps_what_was_answered() -> None:
    made = decisions(
        ReviewResponse(feedback="use the train", answers={"city": "Oslo"}, happened=(True,)), PLAN, CITY, DAY, DOUBT
    )

    assert [one["type"] for one in made] == ["reject", "edit", "reject", "edit"]
    assert made[0]["message"] == "use the train"


@pytest.mark.parametrize("actions", [EVERYTHING, (BUDGET,), (DOUBT,), (CITY, BUDGET)])
def test_stopping_ends_the_run_whatever_is_asked(actions: tuple[ReviewAction, ...]) -> None:
    made = read_answer(build_response(request(*actions).to_json(), ReviewResponse(stop=True)), request(*actions))

    assert all(one.type == "reject" and one.final for one in made)
    assert [one.message for one, action in zip(made, actions, strict=True) if action is BUDGET] in ([], ["stop"])


def test_finishing_ends_the_run_by_its_budget_alone() -> None:
    made = decisions(ReviewResponse(finish=True, happened=(True, False)), *EVERYTHING)
    read = read_answer({"decisions": made}, request(*EVERYTHING))

    assert [one.final for one in read] == [False] * 7 + [True]
    assert read[-1].message is None


@pytest.mark.parametrize(
    ("said", "actions", "field"),
    [
        (ReviewResponse(approve=True), (PLAN, CITY), "decision"),
        (ReviewResponse(answers={"city": "x"}), (PLAN, CITY), "decision"),
        (ReviewResponse(plan={}), (PLAN, CALL), "decision"),
        (ReviewResponse(), (PLAN,), "decision"),
        (ReviewResponse(feedback=""), (PLAN,), "feedback"),
        (ReviewResponse(feedback=" \n"), (PLAN, CITY), "feedback"),
        (ReviewResponse(approve=True), (PLAN, BUDGET), "decision"),
        (ReviewResponse(approve=True), (CITY,), "approve"),
        (ReviewResponse(approve=True, answers={"town": "x"}), (PLAN, CITY), "answer"),
        (ReviewResponse(approve=True, answers={"city": "x"}), (PLAN,), "answer"),
        (ReviewResponse(approve=True), (PLAN, DOUBT), "happened"),
        (ReviewResponse(happened=(True,)), (DOUBT, DOUBT), "happened"),
        (ReviewResponse(feedback="x", happened=(True,)), (DOUBT, DOUBT), "happened"),
        (ReviewResponse(approve=True, happened=(True,)), (PLAN,), "happened"),
        (ReviewResponse(happened=(False,), results=("17",)), (DOUBT,), "result"),
        (ReviewResponse(plan={"steps": []}), (CALL,), "edit"),
        (ReviewResponse(approve=True, limits={"steps": 1}), (PLAN,), "budget"),
        (ReviewResponse(finish=True), (PLAN,), "budget"),
        (ReviewResponse(feedback="x", happened=(True,)), (DOUBT,), "feedback"),
        (ReviewResponse(args={"look": {}}), (GATE,), "args"),
        (ReviewResponse(rejected={"send": "no"}), (PLAN,), "rejected"),
        (ReviewResponse(standing={"send#1": {}}), (CALL,), "standing"),
        (ReviewResponse(args={"send": {}}), (CALL, OTHER_CALL), "args"),
        (ReviewResponse(args={"send": {}}, rejected={"send": "no"}), (CALL,), "args"),
        (ReviewResponse(rejected={"send#1": "no"}), (CALL, OTHER_CALL), "decision"),
        (ReviewResponse(args={"send": {"n": 2**64}}), (CALL,), "decision"),
    ],
    ids=str,
)
def test_what_is_left_open_and_what_is_beside_the_point_is_said_and_nothing_is_decided(
    said: ReviewResponse, actions: tuple[ReviewAction, ...], field: str
) -> None:
    with pytest.raises(InputError) as refused:
        build_response(request(*actions).to_json(), said)

    assert refused.value.field == field


def test_what_is_still_open_is_named() -> None:
    with pytest.raises(InputError) as refused:
        build_response(request(PLAN, CALL, CITY, BUDGET).to_json(), ReviewResponse(limits={"tool_calls": 9}))

    assert str(refused.value) == (
        'decision: undecided: the plan; send with mail {"to":"eve"}; city: Which {city}?; decide each of them'
    )


def test_a_held_call_is_edited_rejected_or_approved_with_further_ones() -> None:
    (edited,) = decisions(ReviewResponse(args={"send": {"to": "bob"}}), CALL)
    (rejected,) = decisions(ReviewResponse(rejected={"send": "not him"}), CALL)
    (further,) = decisions(ReviewResponse(standing={"send": {"at_most": 5}}), CALL)

    assert (edited["type"], args_of(edited)) == ("edit", {"step": "send", "tool": "mail", "args": {"to": "bob"}})
    assert rejected == {"type": "reject", "message": "not him"}
    assert further == {"type": "approve", "standing": {"at_most": 5}}


def test_of_several_calls_of_a_step_each_has_a_number_and_the_others_are_approved() -> None:
    said = ReviewResponse(approve=True, args={"send#2": {"to": "bob"}}, rejected={"pay": "too much"})
    pay = ReviewAction("run_step", {"step": "pay", "tool": "pay", "args": {}}, "", key="k3")

    first, gate, second, paid = decisions(said, CALL, GATE, OTHER_CALL, pay)

    assert (first, gate, paid) == (
        {"type": "approve"},
        {"type": "approve"},
        {"type": "reject", "message": "too much"},
    )
    assert args_of(second)["args"] == {"to": "bob"}


def test_feedback_leaves_what_is_said_of_a_call_alone() -> None:
    plan, call = decisions(ReviewResponse(feedback="another way", rejected={"send": "no"}), PLAN, CALL)

    assert (plan["message"], call["message"]) == ("another way", "no")


def test_a_budget_without_limits_of_single_calls_gets_none() -> None:
    bare = ReviewAction("raise_budget", {"budget": {"tool_calls": 2}, "spent": {}}, "")

    (made,) = decisions(ReviewResponse(limits={"tool_calls": 5}), bare)

    assert args_of(made)["budget"] == {"tool_calls": 5}


def test_a_response_that_says_nothing_is_none() -> None:
    assert not ReviewResponse() and ReviewResponse(stop=True) and ReviewResponse(happened=(False,))


def test_the_actions_of_a_name_are_found() -> None:
    actions = asked(request(*EVERYTHING).to_json(), "answer_question")

    assert [action["args"]["step"] for action in actions] == ["city", "day"]


def test_stopping_is_final_and_says_so_of_a_budget() -> None:
    final = {"type": "reject", "final": True}

    assert decisions(ReviewResponse(stop=True), CALL, BUDGET) == [final, {**final, "message": "stop"}]
    assert decisions(ReviewResponse(finish=True), BUDGET) == [final]


def test_what_is_said_of_uncertain_calls_alone_is_enough() -> None:
    (made,) = decisions(ReviewResponse(happened=(True,)), DOUBT)

    assert args_of(made)["happened"] is True


def test_an_answer_is_for_the_question_of_a_step_and_not_for_its_call() -> None:
    call = ReviewAction("run_step", {"step": "city", "tool": "mail", "args": {}}, "", key="k4")

    asked_first, approved = decisions(ReviewResponse(approve=True, answers={"city": "Oslo"}), CITY, call)

    assert (asked_first["type"], approved) == ("edit", {"type": "approve"})


def test_calls_have_names_and_other_actions_have_none() -> None:
    actions = [{"name": one.name, "args": one.args} for one in (PLAN, CITY, GATE, CALL, OTHER_CALL)]

    assert call_names(actions) == [None, None, None, "send#1", "send#2"]
    assert call_names(actions[:4]) == [None, None, None, "send"]


@pytest.mark.parametrize(
    ("said", "actions", "words"),
    [
        (ReviewResponse(), (DOUBT, CALL), "answer once for each: whether pay's call of pay happened"),
        (ReviewResponse(happened=(True,)), (CALL,), "no call is uncertain"),
        (
            ReviewResponse(answers={"send": "x"}),
            (CALL, CITY),
            "send has no open question; open questions: city: Which {city}?",
        ),
        (ReviewResponse(answers={"send": "x"}), (CALL,), "send has no open question"),
        (ReviewResponse(rejected={"pay": "x"}), (CALL, GATE), "pay has no call to decide; there are: send"),
        (ReviewResponse(rejected={"pay": "x"}), (PLAN,), "pay has no call to decide; there are: none"),
        (ReviewResponse(comments=(("a", "x"),)), (CALL,), "no plan is under review; give feedback instead"),
        (
            ReviewResponse(approve=True, standing_runs={"at_most": 1}),
            (CALL,),
            "no plan is under review; it covers runs of a playbook",
        ),
        (
            ReviewResponse(approve=True, ask_later=("send",)),
            (CALL,),
            "no plan is under review; a call that is asked about is due",
        ),
    ],
)
def test_what_is_beside_the_point_is_told_with_what_is_open(
    said: ReviewResponse, actions: tuple[ReviewAction, ...], words: str
) -> None:
    with pytest.raises(InputError) as refused:
        build_response(request(*actions).to_json(), said)

    assert str(refused.value).endswith(f": {words}")


def test_one_yes_leaves_calls_that_are_new_open_and_names_them() -> None:
    new, other = replace(CALL, digest="c" * 64), replace(CALL, args={**CALL.args, "step": "tell"}, digest="e" * 64)

    with pytest.raises(InputError) as refused:
        build_response(request(PLAN, new, other, CITY).to_json(), ReviewResponse(approve=True, rejected={"tell": "no"}))

    assert str(refused.value).endswith("; decide each of them, calls that are new by name (send)")


def test_a_call_that_is_new_is_approved_with_its_digest_and_one_that_is_not_without() -> None:
    new = replace(CALL, digest="c" * 64)
    said = ReviewResponse(approved=("send#1", "send#2"))

    assert decisions(said, new, OTHER_CALL) == [{"type": "approve", "digest": "c" * 64}, {"type": "approve"}]
    assert new_calls(request(PLAN, new, OTHER_CALL).to_json()["action_requests"]) == ["send#1"]


def test_comments_send_all_back_and_stand_apart_beside_the_plan_alone() -> None:
    plan = replace(PLAN, args={"plan": {"steps": [{"id": "a"}]}})

    sent_back, city, doubt = decisions(ReviewResponse(comments=(("a", "why?"),)), plan, CITY, DOUBT)

    assert sent_back == {"type": "reject", "message": None, "comments": [{"step": "a", "text": "why?"}]}
    assert city == doubt and city.keys() == {"type", "message"} and "why?" in city["message"]


def test_an_approval_of_a_plan_names_the_steps_that_it_leaves_out() -> None:
    plan = replace(PLAN, args={"plan": {"steps": [{"id": "a"}]}})

    assert decisions(ReviewResponse(approve=True, ask_later=("a",)), plan) == [{"type": "approve", "ask_later": ["a"]}]


def test_what_may_be_answered_is_read_of_a_request_of_an_earlier_release_too() -> None:
    assert allowed(request(PLAN).to_json()) == {"approve", "edit", "reject"}
    assert allowed(request(CITY, GATE).to_json(), "run_step") == {"approve", "reject"}


@pytest.mark.parametrize(
    ("actions", "is_approved"), [((PLAN, CITY), True), ((CALL,), True), ((GATE, CITY), True), ((CITY,), False)]
)
def test_a_request_with_a_plan_or_a_call_can_be_approved(actions: tuple[ReviewAction, ...], is_approved: bool) -> None:
    assert can_approve(request(*actions).to_json()) is is_approved


def test_steps_that_an_approval_settles_are_named_of_what_can_be_read() -> None:
    steps = [{"id": "a", "settled": True}, {"id": "b", "settled": False}, "[redacted]"]

    assert settled_steps({"review": {"actions": [{"name": "run_plan", "steps": steps}]}}) == ["a"]  # type: ignore[typeddict-item]


def test_a_plan_is_approved_ahead_with_its_bounds() -> None:
    assert decisions(ReviewResponse(approve=True, standing_runs={"at_most": 5}), PLAN) == [
        {"type": "approve", "standing": {"at_most": 5}}
    ]


def test_a_reason_stands_with_what_it_lets_happen_and_with_nothing_else() -> None:
    pay = ReviewAction("run_step", {"step": "pay", "tool": "pay", "args": {}}, "", key="k3")
    said = ReviewResponse(approve=True, reason="as in May", rejected={"pay": "no"}, answers={"city": "Oslo"})

    made = decisions(replace(said, args={"send": {"to": "bob"}}), PLAN, CALL, pay, CITY)

    assert [one.get("reason") for one in made] == ["as in May", "as in May", None, None]


def test_a_plan_that_cannot_run_is_not_offered_for_approval_and_a_redacted_review_says_what_clients_are_told() -> None:
    content = PlanContent(name="run_plan", revision=1, digest="d", cannot_run=True)
    broken = request(replace(PLAN, cannot_run=True, content=content)).to_json()

    assert allowed(broken) == {"edit", "reject"} and not can_approve(broken)
    assert allowed({**broken, "review": "[redacted]"}) == {"approve", "edit", "reject"}  # type: ignore[typeddict-item]
