"""Section 5: the interrupt value is LangChain's `HITLRequest`, with our keys beside it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, get_args

import pytest
from langchain.agents.middleware.human_in_the_loop import HITLRequest
from pydantic import JsonValue

from planner_executor.graph.desk.pages.lists import ASKS
from planner_executor.graph.plan.canonical import digest
from planner_executor.graph.plan.issues import Issue
from planner_executor.graph.record.deadline import Deadline
from planner_executor.graph.review.request import ReviewAction, ReviewRequest
from planner_executor.graph.review.request_json import ALLOWED, ActionName, digest_of_all
from planner_executor.graph.review.response import WORDS
from planner_executor.graph.text.inbox import ASKED

WORDED: Mapping[str, Mapping[Any, object]] = {
    "what it may be answered": ALLOWED,
    "a statement that is missing": WORDS,
    "the inbox": ASKED,
    "the desk's inbox": ASKS,
}

PLAN = ReviewAction("run_plan", {"plan": {"steps": []}}, "Revision 1. Changes: added: a.")
DOUBT = ReviewAction(
    "settle_effect", {"step": "a", "tool": "send", "args": {}, "happened": None, "result": None}, "Did it?"
)
REQUEST = ReviewRequest(
    run="t.1",
    revision=3,
    digest="d" * 64,
    binding="b" * 64,
    actions=(PLAN, DOUBT),
    diff={"added": ["a"]},
    issues=(Issue(None, "plan", "m"),),
    estimate={"steps": 1},
)


def test_the_interrupt_value_has_the_two_keys_of_langchain_and_ours() -> None:
    value = REQUEST.to_json()

    assert set(HITLRequest.__annotations__) == {"action_requests", "review_configs"}
    assert set(value) == {
        *HITLRequest.__annotations__,
        "run",
        "revision",
        "digest",
        "diff",
        "issues",
        "estimate",
        "error",
        "review",
    }


def test_there_is_one_action_and_one_config_for_each_thing_to_decide() -> None:
    value = REQUEST.to_json()

    assert [set(action) for action in value["action_requests"]] == [{"name", "args", "description"}] * 2
    assert value["review_configs"] == [
        {"action_name": "run_plan", "allowed_decisions": ["approve", "edit", "reject"]},
        {"action_name": "settle_effect", "allowed_decisions": ["edit", "reject"]},
    ]


def test_every_description_repeats_the_digest() -> None:
    value = REQUEST.to_json()

    assert all(value["digest"] in action["description"] for action in value["action_requests"])


def test_the_digest_of_all_is_the_plans_if_only_the_plan_is_asked_about_once() -> None:
    alone = replace(REQUEST, actions=(PLAN,))
    others = [replace(REQUEST, actions=(PLAN, replace(DOUBT, args={**DOUBT.args, "step": s}))) for s in ("a", "b")]
    again = [replace(request, asked_before=1) for request in (alone, *others)]

    assert digest_of_all(alone.to_json()) == alone.digest
    assert len({digest_of_all(request.to_json()) for request in (alone, *others, *again)}) == 6
    assert len({request.digests[1] for request in (alone, *others, *again)}) == 6
    assert {request.to_json()["digest"] for request in (alone, *others, *again)} == {alone.digest}


def test_a_description_ends_with_the_digest_of_what_it_is_about_and_then_why_it_is_asked_again() -> None:
    again = REQUEST.again("the answer was blank", ()).to_json()
    for action, bound in zip(again["action_requests"], (REQUEST.digest, digest_of_all(again)), strict=True):
        assert action["description"].endswith(f"Digest: {bound}\n\nAsked again: `the answer was blank`")


def test_asked_again_says_why_in_the_value_and_in_every_description() -> None:
    value = REQUEST.again("the answer was blank", ()).to_json()

    assert value["error"] == "the answer was blank"
    assert all("the answer was blank" in action["description"] for action in value["action_requests"])


def test_asked_again_keeps_the_issues_until_there_are_new_ones() -> None:
    new = Issue("a", "id", "n")

    assert REQUEST.again("e", ()).issues == REQUEST.issues
    assert REQUEST.again("e", [new]).issues == (new,)


def test_asking_again_is_about_the_same() -> None:
    assert REQUEST.again("e", ()).subject == REQUEST.subject


@pytest.mark.parametrize(
    "change",
    [
        {"digest": "e" * 64},
        {"binding": "c" * 64},
        {"actions": (PLAN,)},
        {"actions": (DOUBT,)},
        {"actions": (PLAN, replace(DOUBT, args={**DOUBT.args, "step": "b"}))},
        {"actions": (PLAN, DOUBT, DOUBT)},
    ],
)
def test_a_request_about_something_else_has_another_subject(change: dict[str, Any]) -> None:
    assert replace(REQUEST, **change).subject != REQUEST.subject


def test_words_alone_make_no_other_request() -> None:
    assert replace(REQUEST, actions=(replace(PLAN, description="x"), DOUBT), estimate={}).subject == REQUEST.subject


def test_only_a_request_that_is_asked_again_says_so() -> None:
    first = REQUEST.to_json()["action_requests"]
    again = REQUEST.again("no such step", ()).to_json()["action_requests"]

    assert not any("Asked again" in action["description"] for action in first)
    assert all("Asked again: `no such step`" in action["description"] for action in again)


def test_a_gate_has_no_arguments_to_edit_and_a_call_has() -> None:
    gate = ReviewAction("run_step", {"step": "a", "tool": "gate", "args": {}}, "")

    assert (gate.allowed, replace(gate, key="k").allowed) == (("approve", "reject"), ("approve", "edit", "reject"))
    assert DOUBT.allowed == ("edit", "reject") and PLAN.allowed == ("approve", "edit", "reject")


def test_who_decides_is_said_once_and_until_when_if_there_is_an_end() -> None:
    timed = replace(REQUEST, people="Policy: 2 have to approve.", deadline=Deadline(1_000.0, 60.0))

    first, second = (action["description"] for action in timed.to_json()["action_requests"])

    assert first.count(timed.people) == 1 and timed.people not in second
    assert timed.to_json()["until"] == 1_060.0


def test_a_description_has_nothing_but_the_digest_after_it_if_anybody_decides() -> None:
    described = [action["description"] for action in REQUEST.to_json()["action_requests"]]

    assert described == [
        f"{PLAN.description}\n\nDigest: {REQUEST.digest}",
        f"{DOUBT.description}\n\nPlan: {REQUEST.digest}\n\nDigest: {digest_of_all(REQUEST.to_json())}",
    ]


def test_a_first_request_has_the_digest_that_it_had_before_requests_were_counted() -> None:
    beside: list[JsonValue] = [[DOUBT.name, dict(DOUBT.args)]]

    assert REQUEST.digests[1] == digest([REQUEST.digest, 2, beside])
    assert replace(REQUEST, asked_before=3).digests[1] == digest([REQUEST.digest, 2, beside, 3])


@pytest.mark.parametrize("where", WORDED)
def test_every_kind_of_action_has_its_words(where: str) -> None:
    assert set(WORDED[where]) == set(get_args(ActionName))


def test_a_call_that_is_new_has_a_digest_of_its_own_which_a_decision_may_name() -> None:
    call = ReviewAction("run_step", {"step": "a", "tool": "send", "args": {}}, "Send?", key="k", digest="c" * 64)
    asked = replace(REQUEST, actions=(PLAN, call))

    assert asked.digests_for(call) == ("c" * 64, asked.digests[1]) and asked.digests_for(PLAN) == asked.digests
    _, shown = asked.to_json()["action_requests"]
    assert (shown["digest"], shown["description"]) == ("c" * 64, f"Send?\n\nDigest: {'c' * 64}")


def test_a_plan_that_cannot_run_is_not_approved_though_clients_of_langchain_are_told_one_list_by_name() -> None:
    broken = replace(PLAN, cannot_run=True)

    assert (broken.allowed, broken.configured) == (("edit", "reject"), PLAN.configured)


def test_a_request_before_there_is_a_plan_names_none() -> None:
    _, described = (action["description"] for action in replace(REQUEST, binding="").to_json()["action_requests"])

    assert "Plan:" not in described
