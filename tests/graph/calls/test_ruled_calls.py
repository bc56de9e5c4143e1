"""Calls that people brought about: whose rules were met, by an approval or by those who gave a value."""

from typing import Any

import pytest

from planner_executor.graph.calls.ruled_calls import RuledCalls, Unmet
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.policy.approver_rule import ApproverRule
from planner_executor.graph.policy.approvers import Approvers
from planner_executor.graph.policy.policy import Policy
from planner_executor.graph.record.events import Event, ValueShown
from planner_executor.graph.record.given_value import GivenValue
from planner_executor.graph.record.projection import project
from planner_executor.graph.testing import drafted, step

PAY, LOOK = ToolSpec("pay", "", {}), ToolSpec("look", "", {}, "read")
LOOKS = {"steps": [step("a", "look")]}
PAYS = {"steps": [step("a", "look"), step("p", "pay", after=["a"])]}
RULE = {"roles": ["finance"]}
BY_TOOL, BY_COST = {"pay": ApproverRule(roles=("finance",))}, ((10, ApproverRule(quorum=2)),)
POLICY = Policy(approvers=Approvers(tools=BY_TOOL, costs=BY_COST))
STARTED = drafted("run_started", {"budget": {"cost_usd": 5}})
ASKED = drafted("review_requested", {"request": 1, "asked": ["run_plan"]})
BY_EVE = {"decision": "approve", "by": "person", "approver": "server:eve"}
BY_POLICY = {"decision": "approve", "by": "policy", "approver": "policy"}


def revised(plan: Any, revision: int = 1) -> Any:
    return drafted("plan_revised", {"plan": plan, "revision": revision})


def held(*drafts: Any, policy: Policy = POLICY, tool: ToolSpec = PAY, at: str = "p") -> Unmet | None:
    events = (Event.written(place, 0.0, draft) for place, draft in enumerate((STARTED, *drafts), 1))
    return RuledCalls(project(events), policy).unmet(at, tool)


def shown_with(*drafts: Any) -> tuple[ValueShown, ...]:
    found = held(*drafts)
    return () if found is None else found.values


def unmet(*drafts: Any, **more: Any) -> str | None:
    found = held(*drafts, **more)
    return None if found is None else ", ".join(str(value.by) for value in found.values) or found.why.split(" ")[1]


APPROVED = (revised(PAYS), ASKED, drafted("decided", {**BY_EVE, "met": {"pay": [RULE]}}))
SUPPLIED = {"value": 9, "approver": "server:eve"}


@pytest.mark.parametrize(
    ("drafts", "why"),
    [
        ((revised(PAYS), ASKED, drafted("decided", {**BY_EVE, "met": {"pay": [RULE]}})), None),
        ((revised(PAYS), ASKED, drafted("decided", {**BY_EVE, "met": {"pay": []}})), "approval"),
        ((revised(PAYS), ASKED, drafted("decided", {**BY_EVE, "met": {}})), "approval"),
        ((revised(PAYS), drafted("decided", BY_POLICY)), None),
        ((revised(PAYS), ASKED, drafted("decided", BY_EVE)), None),
        ((revised(LOOKS), ASKED, revised(PAYS, 2), drafted("decided", BY_EVE)), "approval"),
        (
            (revised(LOOKS), ASKED, revised(PAYS, 2), drafted("decided", BY_EVE), drafted("decided", BY_POLICY)),
            "approval",
        ),
    ],
    ids=[
        "by those who may",
        "by those who may not",
        "by those who met nothing",
        "by the policy",
        "by a release before, of what was shown",
        "by a release before, of what was edited in",
        "by the policy, within what others approved",
    ],
)
def test_a_call_is_held_if_people_approved_it_who_did_not_meet_its_rules(drafts: Any, why: str | None) -> None:
    assert unmet(*drafts) == why
    assert unmet(*drafts, policy=Policy()) is None and unmet(*drafts, tool=LOOK, at="a") is None


def test_a_value_after_the_approval_is_judged_by_itself_and_one_before_it_was_approved_with_the_plan() -> None:
    given, met = (drafted("result_supplied", {**SUPPLIED, **more}, "a") for more in ({}, {"met": {"pay": [RULE]}}))

    assert unmet(*APPROVED, given) == "('server:eve',)"
    assert unmet(*APPROVED, met) is None
    assert unmet(revised(PAYS), given, *APPROVED[1:]) is None
    assert unmet(revised(PAYS), given, ASKED, drafted("decided", {**BY_EVE, "met": {"pay": []}})) == "('server:eve',)"
    assert unmet(revised(PAYS), given, drafted("decided", BY_POLICY)) == "('server:eve',)"


def test_a_limit_that_was_raised_needs_the_rules_on_what_the_run_may_cost_then() -> None:
    two = {"quorum": 2}
    raised = {"decision": "settle", "by": "person", "approver": "server:ada", "budget": {"cost_usd": 20}}

    assert unmet(*APPROVED, drafted("decided", {**raised, "met": {"pay": [RULE, two]}})) is None
    assert unmet(*APPROVED, drafted("decided", {**raised, "met": {"pay": [RULE]}})) == "('server:ada',)"


def test_a_call_that_nobody_has_decided_about_passes() -> None:
    assert unmet(revised(PAYS)) is None


@pytest.mark.parametrize(("characters", "is_whole"), [(398, True), (399, False)])
def test_the_beginning_and_the_end_of_a_value_are_shown_with_the_call(characters: int, is_whole: bool) -> None:
    value = "x" * characters

    (shown,) = shown_with(*APPROVED, drafted("result_supplied", {**SUPPLIED, "value": value}, "a"))

    assert (shown.what, shown.by, shown.step) == ("result", ("server:eve",), "a")
    assert (shown.value == f'"{value}"') == is_whole and str(shown.value).startswith('"xxx')


def test_a_raised_limit_has_no_value_to_show() -> None:
    raised = {"decision": "settle", "by": "person", "approver": "server:ada", "budget": {"cost_usd": 20}}

    (shown,) = shown_with(*APPROVED, drafted("decided", raised))

    assert (shown.what, shown.value) == ("limit", None)


def test_a_value_reaches_no_call_without_a_plan() -> None:
    raised = {"decision": "settle", "by": "person", "approver": "server:ada", "budget": {"cost_usd": 20}}

    assert shown_with(drafted("decided", raised)) == ()


FOUR_EYES = ApproverRule(roles=("finance",), four_eyes=True)
BY_TWO = Policy(approvers=Approvers(tools={"pay": FOUR_EYES}))
SETTLED = {"key": "k", "place": "p", "tool": "pay", "met": [FOUR_EYES.to_json()]}
CONSENT = drafted("decided", {**BY_EVE, "with_plan": [SETTLED]})
SUPPLIED_BY_EVE = drafted("result_supplied", SUPPLIED, "a")
GIVEN_BEFORE = {"a": GivenValue("result", ("server:eve",), "a").to_json()}
FORKED = drafted("run_forked", {"source": "s.1", "askers": ["server:ada"], "values": GIVEN_BEFORE})


@pytest.mark.parametrize(
    ("drafts", "policy", "is_settled"),
    [
        ((revised(PAYS), CONSENT), BY_TWO, True),
        ((revised(PAYS),), BY_TWO, False),
        ((revised(PAYS),), Policy(), False),
        ((revised(PAYS), CONSENT, drafted("decided", {**BY_EVE, "rejected": {"k": "no"}})), BY_TWO, False),
        ((revised(PAYS), drafted("decided", {**BY_EVE, "with_plan": [{**SETTLED, "met": []}]})), Policy(), True),
        ((revised(PAYS), drafted("decided", {**BY_EVE, "with_plan": [{**SETTLED, "met": []}]})), BY_TWO, False),
        ((drafted("run_forked", {"source": "s.1", "askers": ["server:eve"]}), revised(PAYS), CONSENT), BY_TWO, False),
        ((revised(PAYS), SUPPLIED_BY_EVE, CONSENT), BY_TWO, False),
        ((FORKED, CONSENT), BY_TWO, True),
    ],
    ids=[
        "by somebody else",
        "by nobody",
        "by nobody, without rules",
        "and rejected since",
        "without rules",
        "by those who met none",
        "by who asked",
        "by who gave what it rests on",
        "without a plan",
    ],
)
def test_a_call_is_settled_with_the_plan_by_those_who_meet_its_rules_and_did_not_ask(
    drafts: Any, policy: Policy, is_settled: bool
) -> None:
    started = drafted("run_started", {"budget": {"cost_usd": 5}, "started_by": "server:ada"})
    events = (Event.written(place, 0.0, draft) for place, draft in enumerate((started, *drafts), 1))

    assert RuledCalls(project(events), policy).is_settled("k", "p", PAY) is is_settled
