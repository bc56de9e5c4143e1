from typing import Any

import pytest

from planner_executor.graph.errors import InputError
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.policy.approver_rule import ApproverRule
from planner_executor.graph.policy.approvers import Approvers
from planner_executor.graph.record.events import Event, ResultSupplied, StepSkipped
from planner_executor.graph.record.person import Approver
from planner_executor.graph.record.projection import project
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.review.step_change import Skip, StepChange, Supply, changes_from, drafted_by
from planner_executor.graph.testing import drafted, step

NUMBER = {"type": "object", "required": ["n"]}
PLAN = {
    "steps": [
        step("done", "look"),
        step("left", "look"),
        {**step("think"), "output": NUMBER},
        {"id": "gate", "objective": "o", "gate": "Go on?"},
    ]
}


def record(*more: Any) -> RunState:
    drafts = [
        drafted("run_started", {"goal": "g"}),
        drafted("plan_revised", {"plan": PLAN}),
        drafted("step_finished", {"status": "succeeded", "value": 1}, "done"),
        *more,
    ]
    events = [*drafts, *more]
    return project(Event.written(place, 0.0, draft) for place, draft in enumerate(events, 1))


def test_a_change_becomes_an_event_of_its_step() -> None:
    skipped, supplied = (
        Skip("left", " by hand ").drafted(record(), "os:ada"),
        Supply("think", {"n": 3}).drafted(record(), "os:ada"),
    )

    assert (skipped.draft.data, skipped.draft.step) == (StepSkipped(why="by hand", approver="os:ada"), "left")
    assert isinstance(supplied.draft.data, ResultSupplied) and supplied.draft.data.result.value == {"n": 3}
    assert [kept.text for kept in supplied.kept] == ['{"n":3}'] and skipped.kept == ()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (Supply("done", 2), "done succeeded and cannot change"),
        (Skip("nowhere"), "has no step 'nowhere'; there are done, left"),
        (Skip("done"), "done succeeded and cannot change"),
        (Skip("left", "\ud800"), "surrogate"),
        (Supply("gate", True), "gate is a gate, which only a decision"),
        (Supply("think", {"m": 3}), "the result of think does not match its schema"),
        (Supply("left", {1, 2}), "left: "),
    ],
    ids=str,
)
def test_a_change_that_cannot_be_is_refused(change: StepChange, words: str) -> None:
    with pytest.raises(InputError, match=words):
        change.drafted(record(), "os:ada")


@pytest.mark.parametrize("value", ["a\0b", ["x", "a\0b"], {"n": {"m": "a\0b"}}, {"a\0b": 1}], ids=str)
def test_a_result_with_a_text_that_not_every_database_keeps_is_refused_wherever_the_text_is(value: Any) -> None:
    with pytest.raises(InputError, match="NUL"):
        Supply("left", value).drafted(record(), "os:ada")


def test_a_step_is_skipped_once() -> None:
    with pytest.raises(InputError, match="left is skipped already"):
        Skip("left").drafted(record(Skip("left").drafted(record(), "os:ada").draft), "os:ada")


@pytest.mark.parametrize(
    "raw",
    ["skip", ["skip"], {"drop": {}}, {"skip": ["a"]}, {"skip": {"b": "why", "a": 1}}, {"supply": ["a"]}],
    ids=str,
)
def test_changes_of_another_shape_are_refused(raw: Any) -> None:
    with pytest.raises(InputError, match="changes"):
        changes_from(raw)


def test_a_change_that_is_made_is_known() -> None:
    assert not Skip("left").is_made(record()) and not Supply("left", 1).is_made(record())

    skipped = record(Skip("left").drafted(record(), "os:ada").draft)
    supplied = record(Supply("left", 1).drafted(record(), "os:ada").draft)
    assert Skip("left", "why").is_made(skipped) and Supply("left", 1).is_made(supplied)
    assert not Supply("left", 2).is_made(supplied)


def test_a_supplied_result_that_a_retry_took_back_is_not_there() -> None:
    supplied = Supply("left", 1).drafted(record(), "os:ada").draft
    again = drafted("run_reopened", {"again": ["left"]})

    assert not Supply("left", 1).is_made(record(supplied, drafted("run_ended", {"status": "failed"}), again))


def test_a_result_of_the_step_itself_is_no_supplied_one() -> None:
    assert not Supply("done", 1).is_made(record())


def test_changes_are_read_as_they_are_written() -> None:
    assert changes_from({}) == changes_from({"skip": None, "supply": None}) == []
    assert changes_from({"skip": {"a": "why"}, "supply": {"b": 2}}) == [Skip("a", "why"), Supply("b", 2)]


def test_a_run_that_ended_or_has_no_plan_yet_has_nothing_to_change() -> None:
    ended = record(drafted("run_ended", {"status": "failed", "reason": "r"}))
    with pytest.raises(InputError, match="has ended"):
        Skip("left").drafted(ended, "os:ada")
    with pytest.raises(InputError, match="has no step 'left'; there are none"):
        Skip("left").drafted(RunState(), "os:ada")


ADA, BOB = (Approver(name, "server", ("finance",)) for name in ("ada", "bob"))
EVE = Approver("eve", "server")
PAYS = {
    "steps": [
        step("price", "look"),
        step("pay", "pay", amount="{price_result}"),
        step("apart", "look"),
        {"id": "which", "objective": "o", "ask": "Which?"},
    ]
}
TOOLS = {"pay": ToolSpec("pay", "", {}), "look": ToolSpec("look", "", {}, "read")}
FINANCE, TWO, EYES = (
    Approvers(tools={"pay": ApproverRule(roles=("finance",), **more)})
    for more in ({}, {"quorum": 2}, {"four_eyes": True})
)
ANY_VERIFIED = Approvers(ApproverRule(four_eyes=True))


@pytest.mark.parametrize(
    ("change", "approvers", "by", "met"),
    [
        (Supply("price", 1), FINANCE, ADA, {"pay": ({"roles": ["finance"]},)}),
        (Supply("price", 1), FINANCE, EVE, {"pay": ()}),
        (Supply("price", 1), TWO, ADA, {"pay": ()}),
        (Supply("price", 1), EYES, ADA, {"pay": ({"roles": ["finance"], "four_eyes": True},)}),
        (Supply("price", 1), EYES, BOB, {"pay": ()}),
        (Supply("apart", 1), FINANCE, EVE, {}),
        (Supply("which", "x"), FINANCE, EVE, {}),
        (Supply("price", 1), Approvers(), EVE, None),
    ],
)
def test_a_result_stands_with_the_rules_that_its_giver_met_on_what_rests_on_it(
    change: StepChange, approvers: Approvers, by: Approver, met: Any
) -> None:
    given = drafted_by(change, pays(), approvers, TOOLS, by).draft.data

    assert isinstance(given, ResultSupplied) and given.met == met


def test_a_question_that_the_policy_has_others_answer_is_answered_in_its_review() -> None:
    with pytest.raises(InputError, match="the policy says who answers which"):
        drafted_by(Supply("which", "x"), pays(), ANY_VERIFIED, TOOLS, ADA)


def test_a_step_is_skipped_by_anybody_and_a_tool_that_is_gone_stops_nobody() -> None:
    assert drafted_by(Skip("pay"), pays(), FINANCE, TOOLS, EVE).draft.data == StepSkipped(why="", approver="server:eve")
    given = drafted_by(Supply("price", 1), pays(), FINANCE, {}, EVE).draft.data
    assert isinstance(given, ResultSupplied) and given.met == {}


def pays() -> RunState:
    drafts = [drafted("run_started", {"started_by": "server:bob"}), drafted("plan_revised", {"plan": PAYS})]
    return project(Event.written(place, 0.0, draft) for place, draft in enumerate(drafts, 1))


def test_a_step_whose_condition_was_not_met_is_not_changed_by_itself() -> None:
    untaken = drafted("condition_evaluated", {"met": False, "condition": "@", "revision": 1}, "left")

    with pytest.raises(InputError, match="left was skipped by its condition; edit the plan"):
        Skip("left", "").drafted(record(untaken), "os:ada")


def test_a_result_of_a_step_that_is_no_question_stands_whoever_decides_about_plans() -> None:
    assert isinstance(drafted_by(Supply("price", 1), pays(), ANY_VERIFIED, TOOLS, ADA).draft.data, ResultSupplied)
