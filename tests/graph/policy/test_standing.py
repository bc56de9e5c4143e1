"""What a standing approval covers, and which wishes for one are understood."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume
from hypothesis import given as given_by
from hypothesis import strategies as st

from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.policy.approver_rule import ApproverRule, missing
from planner_executor.graph.policy.policy import NO_POLICY, Policy
from planner_executor.graph.policy.standing import (
    consent_fault,
    covers,
    standing_args,
    standing_fault,
    time_of,
    wide_fault,
)
from planner_executor.graph.record.person import NOBODY, Approver
from planner_executor.graph.record.standing_approval import StandingApproval
from planner_executor.graph.record.trust_label import TrustLabel

NOW = 1_000_000.0
SCHEMA = {"properties": {"to": {}, "amount": {}, "note": {"default": "rent"}, "copies": {}}}
PAY = ToolSpec("pay", "", SCHEMA)
ANN_BELOW_100: dict[str, Any] = {"to": {"one_of": ["ann"]}, "amount": {"below": 100}}
CALL = {"to": "ann", "amount": 99}


def given(args: Any = ANN_BELOW_100, tool: ToolSpec = PAY, policy: Policy = NO_POLICY) -> StandingApproval:
    return StandingApproval("sa-1", tool.name, args, 5, tool.fingerprint, policy.digest, ("server:ada",), NOW)


def is_covered(args: Any = CALL, constraints: Any = ANN_BELOW_100, untrusted: Any = None) -> bool:
    return covers(given(constraints), PAY, args, untrusted or {}, NO_POLICY)


@pytest.mark.parametrize(
    ("wish", "why"),
    [
        ({"at_most": 1}, None),
        ({"at_most": 1_000, "args": {"amount": {"below": 5}}, "until": "1970-01-12T13:46:41Z"}, None),
        ("5", "standing must be an object"),
        ({"at_most": 1, "for": "ever", "by": "me"}, "standing has no by, for; it has args, at_most, until"),
        ({}, "standing.at_most must be an integer"),
        ({"at_most": 0}, "standing.at_most must be an integer"),
        ({"at_most": 1_001}, "standing.at_most must be an integer"),
        ({"at_most": True}, "standing.at_most must be an integer"),
        ({"at_most": 1, "args": {"amount": {"under": 5}}}, "standing.args.amount.under is unknown"),
        ({"at_most": 1, "args": None}, "standing.args must be a table of arguments"),
        ({"at_most": 1, "until": "1970-01-12T13:46:40"}, "standing.until must be a time with its zone"),
        ({"at_most": 1, "until": None}, "standing.until must be a time with its zone"),
        ({"at_most": 1, "until": "1970-01-12T13:46:40Z"}, "standing.until has passed"),
    ],
)
def test_a_wish_is_understood_or_refused_with_the_reason(wish: Any, why: str | None) -> None:
    found = standing_fault(wish, NOW)

    assert found is None if why is None else why in str(found)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-01T00:00:01z", 1.0),
        ("1970-01-01T00:00:01.5-01:00", 3601.5),
        ("1970-01-01", None),
        ("tomorrow", None),
        (1e9, None),
        ("9999-12-31T23:59:59-01:00", None),
        ("0001-01-01T00:00:00+01:00", None),
    ],
)
def test_a_time_has_a_zone_and_is_one_that_can_be_shown(text: Any, seconds: float | None) -> None:
    assert time_of(text) == seconds


def test_an_argument_without_a_constraint_is_as_it_was_shown() -> None:
    shown = {"to": "ann", "amount": 50}

    assert standing_args({"args": {"amount": {"below": 100}}}, shown) == ANN_BELOW_100
    assert standing_args({}, shown) == {"to": {"one_of": ["ann"]}, "amount": {"one_of": [50]}}


@pytest.mark.parametrize(
    ("args", "constraints", "covered"),
    [
        (CALL, ANN_BELOW_100, True),
        ({"to": "bob", "amount": 99}, ANN_BELOW_100, False),
        ({"to": "ann", "amount": 100}, ANN_BELOW_100, False),
        ({"to": "ann"}, ANN_BELOW_100, False),
        ({**CALL, "note": "rent"}, ANN_BELOW_100, False),
        (CALL, {**ANN_BELOW_100, "copies": {"optional": True}}, True),
        (CALL, {**ANN_BELOW_100, "note": {"one_of": ["rent"]}}, True),
        (CALL, {**ANN_BELOW_100, "note": {"one_of": ["fee"]}}, False),
        ({**CALL, "note": "fee"}, {**ANN_BELOW_100, "note": {"one_of": ["fee"]}}, True),
        ({"to": ["ann", "bob"]}, {"to": {"one_of": [["ann", "bob"]]}}, True),
        ({"to": ["bob", "ann"]}, {"to": {"one_of": [["ann", "bob"]]}}, False),
        ({"to": ["ann", "ann"]}, {"to": {"one_of": ["ann"]}}, True),
        ({"to": ["ann", "bob"]}, {"to": {"one_of": [["ann", "bob"]], "pattern": "a.*"}}, False),
        ({"to": True}, {"to": {"one_of": [1]}}, False),
        ({}, {}, True),
        (CALL, {**ANN_BELOW_100, "amount": {"below": "[redacted]"}}, False),
    ],
)
def test_each_argument_meets_its_constraint_and_each_constraint_has_an_argument(
    args: Any, constraints: Any, covered: bool
) -> None:
    assert is_covered(args, constraints) == covered


@pytest.mark.parametrize(
    "change",
    [
        {"name": "refund"},
        {"schema": {"properties": {"to": {}, "amount": {}}}},
        {"effect": "write"},
        {"place": "another server"},
    ],
)
def test_a_tool_that_has_changed_is_not_covered(change: dict[str, Any]) -> None:
    assert not covers(given(), replace(PAY, **change), CALL, {}, NO_POLICY)


def test_under_another_policy_nothing_is_covered() -> None:
    assert not covers(given(), PAY, CALL, {}, Policy(approval="never"))
    assert covers(given(policy=Policy(approval="never")), PAY, CALL, {}, Policy(approval="never"))


WEB, MAILS = TrustLabel("untrusted", ("web",)), TrustLabel("untrusted", ("web", "mails"))


@pytest.mark.parametrize(
    ("untrusted", "accepted", "covered"),
    [
        ({"amount": WEB}, {"amount": ["web"]}, True),
        ({"amount": WEB}, {}, False),
        ({"amount": WEB}, {"to": ["web"]}, False),
        ({"amount": MAILS}, {"amount": ["web"]}, False),
        ({"amount": MAILS}, {"amount": ["web", "mails"]}, True),
        ({"amount": WEB, "to": WEB}, {"amount": ["web"]}, False),
        ({"copies": WEB}, {"amount": ["web"]}, False),
    ],
)
def test_untrusted_arguments_are_covered_if_their_constraint_names_each_source(
    untrusted: Any, accepted: dict[str, list[str]], covered: bool
) -> None:
    constraints = {
        name: {**raw, **({"untrusted_from": accepted[name]} if name in accepted else {})}
        for name, raw in ANN_BELOW_100.items()
    }

    assert is_covered(CALL, constraints, untrusted) == covered


ADA, BOB = Approver("ada", "server", ("finance",)), Approver("bob", "server", ("finance",))
CLAIMED, OS = Approver("ada", "claimed", ("finance",)), Approver("ada", "os")
FINANCE, LEAD = ApproverRule(roles=("finance",)), ApproverRule(roles=("lead",))
PEOPLE = st.sampled_from(
    [ADA, BOB, CLAIMED, OS, NOBODY, Approver("Ada", "server"), Approver("cy", "server", ("lead",))]
)
RULES = st.lists(
    st.sampled_from([FINANCE, LEAD, FINANCE._replace(quorum=2), FINANCE._replace(four_eyes=True)]), max_size=2
)


def of(*givers: Approver, **fields: Any) -> StandingApproval:
    roles = {str(giver): giver.roles for giver in givers}
    return given()._replace(given_by=tuple(roles), **{"until": NOW + 60, "roles": roles, **fields})


@pytest.mark.parametrize(
    ("givers", "rules", "why"),
    [
        ([ADA], [], None),
        ([OS], [], None),
        ([CLAIMED], [], "claimed:ada is only claimed"),
        ([NOBODY], [], "it is not known who answers"),
        ([ADA], [FINANCE], None),
        ([OS], [FINANCE], "takes 0 of 1 approval:"),
        ([ADA], [FINANCE, LEAD], "takes 0 of 1 approval:"),
        ([ADA], [FINANCE._replace(quorum=2)], "takes 1 of 2 approvals"),
        ([ADA, BOB], [FINANCE._replace(quorum=2)], None),
    ],
)
def test_people_approve_calls_of_other_runs_if_they_are_known_and_meet_the_rules(
    givers: list[Approver], rules: list[ApproverRule], why: str | None
) -> None:
    found = wide_fault(rules, givers, ["os:eve"])

    assert found is None if why is None else why in str(found)


@given_by(PEOPLE, st.lists(PEOPLE, max_size=3))
def test_without_rules_nobody_consents_for_others(giver: Approver, askers: list[Approver]) -> None:
    is_consent = consent_fault(of(giver, of_givers=True), [], [str(asker) for asker in askers]) is None
    is_own = bool(askers) and all(asker.identity == giver.identity for asker in askers)

    assert is_consent == (is_own and giver.is_verified)
    assert (consent_fault(of(giver), [], [str(asker) for asker in askers]) is None) == is_consent
    assert (consent_fault(of(giver, roles=None), [], [str(asker) for asker in askers]) is None) == is_consent


@given_by(PEOPLE, PEOPLE, RULES)
def test_under_rules_they_are_judged_as_in_a_review_of_the_run_as_it_is(
    giver: Approver, asker: Approver, rules: list[ApproverRule]
) -> None:
    assume(rules)
    is_consent = consent_fault(of(giver), rules, [str(asker)]) is None

    assert is_consent == (missing(rules, [giver], [str(asker)]) is None)
    assert is_consent <= giver.is_verified
    assert (consent_fault(of(giver, run="t.1"), rules, [str(asker)]) is None) == is_consent


def test_without_the_roles_of_its_givers_one_on_record_stands_for_the_rules_that_they_met() -> None:
    before = of(OS, roles=None)

    assert consent_fault(before, [LEAD], ["server:bob"]) is None
    assert consent_fault(before, [LEAD._replace(four_eyes=True)], ["server:ada"]) is not None


@pytest.mark.parametrize(
    ("fields", "is_in_time"),
    [
        ({"until": NOW + 60}, True),
        ({"until": NOW + 61}, False),
        ({"until": None}, False),
        ({"until": None, "run": "t.1"}, True),
        ({"until": NOW + 61, "roles": None}, True),
    ],
)
def test_one_that_lasts_longer_than_the_policy_says_covers_nothing(fields: dict[str, Any], is_in_time: bool) -> None:
    policy = Policy(standing_s=60.0)

    assert covers(of(ADA, policy=policy.digest, **fields), PAY, CALL, {}, policy) is is_in_time


def test_a_wish_beyond_the_longest_time_names_the_last_moment() -> None:
    wish = {"at_most": 1, "until": "1970-01-12T13:47:41Z"}

    assert standing_fault(wish, NOW, 61.0) is None
    assert "1 minute from now at most: 1970-01-12T13:47:40Z" in str(standing_fault(wish, NOW, 60.0))


@pytest.mark.parametrize(
    ("wish", "why"),
    [
        ({"until": "1970-01-12T13:46:41Z"}, None),
        ({"at_most": 5, "params": {"customer": {"one_of": ["ann"]}}}, None),
        ({}, "standing.at_most must be an integer"),
        ({"at_most": 1, "args": {}}, "standing has no args; it has params, at_most, until"),
    ],
)
def test_a_wish_about_a_playbook_needs_a_number_or_a_time(wish: Any, why: str | None) -> None:
    found = standing_fault(wish, NOW, bounds="params")

    assert found is None if why is None else why in str(found)
    assert standing_fault({"until": "1970-01-12T13:46:41Z"}, NOW) is not None


def test_one_of_a_playbook_covers_no_single_call() -> None:
    assert is_covered()
    assert not covers(given()._replace(playbook={"name": "onboarding"}), PAY, CALL, {}, NO_POLICY)


def test_one_of_its_givers_alone_covers_nobody_elses_run_though_they_meet_the_rules() -> None:
    assert consent_fault(of(ADA), [FINANCE], ["server:eve"]) is None
    assert consent_fault(of(ADA, of_givers=True), [FINANCE], ["server:eve"]) is not None


def test_an_approval_in_a_run_covers_its_calls_whoever_asks_and_one_of_runs_those_of_verified_givers() -> None:
    assert consent_fault(of(ADA, run="t.1", roles=None), [], ["server:eve"]) is None
    assert consent_fault(of(ADA, run=None, roles=None), [], ["server:ada"]) is None
    unverified = of(ADA, run=None)._replace(given_by=("claimed:ada",), roles=None)
    assert consent_fault(unverified, [], ["claimed:ada"]) is not None
