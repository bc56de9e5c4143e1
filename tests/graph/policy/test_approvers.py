"""Who decides: which rules apply, whose decision counts, and how many it takes."""

from typing import Any

import pytest

from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.policy.approver_rule import (
    ANYBODY,
    ApproverRule,
    alone_fault,
    approver_refusal,
    givers_fault,
    is_proposed,
    missing,
    nobody_left,
    quorum_of,
)
from planner_executor.graph.policy.approvers import Approvers
from planner_executor.graph.policy.decision_deadline import TimeLimit
from planner_executor.graph.policy.policy_file import policy_from
from planner_executor.graph.record.person import NOBODY, Approver

SEND = ToolSpec("send", "", {})
PAY, MAIL, LOOK = ToolSpec("pay", "", {}), ToolSpec("mail", "", {}, "external"), ToolSpec("look", "", {}, "read")
OPS, FINANCE, LEAD = ApproverRule(roles=("ops",)), ApproverRule(roles=("finance",)), ApproverRule(roles=("lead",))
EYES, TWO = ApproverRule(four_eyes=True), ApproverRule(quorum=2)
ADA, BOB = Approver("ada", "server", ("finance",)), Approver("bob", "server", ("finance", "ops"))


@pytest.mark.parametrize(
    ("rule", "approver", "admitted"),
    [
        (ANYBODY, ADA, True),
        (ANYBODY, Approver("ada", "claimed"), False),
        (ANYBODY, NOBODY, False),
        (ApproverRule(names=(" Ada",)), ADA, True),
        (ApproverRule(names=("bob", "ada")), ADA, True),
        (ApproverRule(names=("bob",)), ADA, False),
        (ApproverRule(names=("ada",)), Approver("ada", "claimed"), False),
        (ApproverRule(names=("ada",)), Approver("ada", "os"), False),
        (ApproverRule(names=("os:ADA",)), Approver("ada", "os"), True),
        (ApproverRule(names=("server:ada",)), ADA, False),
        (ApproverRule(names=("os:ada",)), Approver("os:ada", "server"), False),
        (ApproverRule(names=("Kate",)), Approver("\u212aate", "server"), False),
        (ApproverRule(names=("straße",)), Approver("strasse", "server"), False),
        (FINANCE, ADA, True),
        (FINANCE, Approver("ada", "server", ("ops",)), False),
        (FINANCE, Approver("ada", "claimed", ("finance",)), False),
        (ApproverRule(names=("cy",), roles=("finance",)), ADA, True),
        (ApproverRule(names=("ada",), roles=("lead",)), ADA, True),
    ],
)
def test_a_rule_admits_verified_people_by_name_or_role(rule: ApproverRule, approver: Approver, admitted: bool) -> None:
    assert rule.admits(approver) == admitted


RULES = Approvers(OPS, {"pay": FINANCE}, {"read": LEAD}, ((10, TWO), (5, EYES)))


@pytest.mark.parametrize(
    ("tools", "cost_usd", "rules"),
    [
        ([], 5, (OPS,)),
        ([PAY], 5, (FINANCE,)),
        ([MAIL], 5, (OPS,)),
        ([LOOK], 5, (LEAD,)),
        ([PAY, LOOK, PAY], 5, (FINANCE, LEAD)),
        ([PAY], 10, (FINANCE, EYES)),
        ([PAY], 10.5, (FINANCE, TWO, EYES)),
        ([PAY], None, (FINANCE, TWO, EYES)),
    ],
)
def test_the_rule_of_a_tool_precedes_that_of_its_effect_and_rules_by_cost_are_added(
    tools: list[ToolSpec], cost_usd: float | None, rules: Any
) -> None:
    assert RULES.rules(tools, cost_usd) == rules
    assert RULES.has_cost_rule(cost_usd) == (cost_usd != 5)


def test_a_tool_with_an_effect_and_no_rule_needs_the_general_rule_beside_those_of_others() -> None:
    rules = Approvers(OPS, {"pay": FINANCE})

    assert rules.rules([PAY, MAIL], 0) == (FINANCE, OPS)
    assert rules.rules([PAY, LOOK], 0) == (FINANCE,)


@pytest.mark.parametrize(
    ("general", "rule", "made"),
    [
        (ANYBODY, ANYBODY, ()),
        (ANYBODY, FINANCE, (FINANCE,)),
        (EYES, FINANCE, (ApproverRule(roles=("finance",), four_eyes=True),)),
        (ANYBODY, EYES, (EYES,)),
        (ApproverRule(quorum=3), TWO, (ApproverRule(quorum=3),)),
        (TWO, ApproverRule(quorum=3), (ApproverRule(quorum=3),)),
    ],
)
def test_four_eyes_and_quorum_of_the_general_rule_hold_for_all(
    general: ApproverRule, rule: ApproverRule, made: tuple[ApproverRule, ...]
) -> None:
    assert Approvers(general, {"pay": rule}).rules([PAY], 0) == made


@pytest.mark.parametrize(
    ("rules", "approver", "askers", "why"),
    [
        ([FINANCE], ADA, ["server:eve"], None),
        ([FINANCE], ADA, ["server:ada"], None),
        ([OPS, FINANCE], ADA, [], None),
        ([OPS], ADA, ["server:ada"], "server:ada may not decide this; the role ops has to approve"),
        ([EYES], ADA, ["server:eve", "server:Ada"], "server:ada asked for this, and may not decide it too"),
        ([EYES], Approver("ada", "os"), ["server:ada"], "os:ada asked for this"),
        ([EYES], BOB, ["server:ada"], None),
        ([OPS, EYES], ADA, ["server:ada"], "asked for this"),
        ([FINANCE], Approver("ada", "claimed", ("finance",)), [], "claimed:ada is only claimed, and the policy takes"),
        (
            [OPS, LEAD],
            NOBODY,
            [],
            "nobody knows who answers, and the policy takes a verified person: the role ops, and also the role lead",
        ),
    ],
)
def test_a_decision_counts_for_at_least_one_rule_or_is_refused_with_the_reason(
    rules: list[ApproverRule], approver: Approver, askers: list[str], why: str | None
) -> None:
    found = approver_refusal(rules, approver, askers)

    assert found is None if why is None else why in str(found)


@pytest.mark.parametrize(
    ("rules", "voters", "askers", "left"),
    [
        ([FINANCE], [ADA], [], None),
        ([FINANCE], [], [], "0 of 1 approval: the role finance"),
        ([TWO], [ADA, Approver("ADA", "os")], [], "1 of 2 approvals: 2 verified people"),
        ([TWO], [ADA, BOB], [], None),
        ([FINANCE, OPS], [ADA], [], "0 of 1 approval: the role ops"),
        ([FINANCE, OPS], [BOB], [], None),
        ([LEAD, OPS], [ADA], [], "0 of 1 approval: the role lead; 0 of 1 approval: the role ops"),
        ([EYES], [ADA], ["server:ada"], "0 of 1 approval: a verified person (but nobody who asked for it)"),
        ([EYES], [ADA], ["claimed:eve"], "1 of 2 approvals: 2 verified people (but nobody who asked for it)"),
    ],
)
def test_every_rule_takes_its_own_number_of_people(
    rules: list[ApproverRule], voters: list[Approver], askers: list[str], left: str | None
) -> None:
    assert missing(rules, voters, askers) == left


@pytest.mark.parametrize(
    ("rule", "askers", "quorum"),
    [
        (EYES, ["server:ada"], 1),
        (EYES, ["server:ada", "os:bob"], 1),
        (EYES, ["server:ada", "claimed:bob"], 2),
        (EYES, [], 2),
        (OPS, [], 1),
        (ApproverRule(four_eyes=True, quorum=3), [], 3),
    ],
)
def test_under_four_eyes_it_takes_two_if_it_is_not_verified_who_asked(
    rule: ApproverRule, askers: list[str], quorum: int
) -> None:
    assert quorum_of(rule, askers) == quorum


@pytest.mark.parametrize(
    ("rules", "givers", "askers", "is_fault"),
    [
        ([EYES], ["server:bob"], ["server:ada"], False),
        ([EYES], ["server:ada"], ["server:ada"], True),
        ([OPS, EYES], ["server:Ada"], ["server:ada"], True),
        ([EYES], ["server:ada", "server:bob"], ["server:ada"], False),
        ([ApproverRule(four_eyes=True, quorum=2)], ["server:ada", "server:bob"], ["server:ada"], True),
        ([EYES], ["server:bob"], [], True),
        ([EYES], ["server:bob", "server:cy"], [], False),
        ([TWO], ["server:ada"], ["server:ada"], False),
        ([], ["server:ada"], ["server:ada"], False),
    ],
)
def test_under_four_eyes_a_standing_approval_is_of_others_than_who_asks(
    rules: list[ApproverRule], givers: list[str], askers: list[str], is_fault: bool
) -> None:
    assert (givers_fault(rules, givers, askers) is not None) == is_fault


@pytest.mark.parametrize(
    ("rules", "approver", "askers", "why"),
    [
        ([], NOBODY, [], None),
        ([FINANCE], ADA, ["server:ada"], None),
        (
            [FINANCE, OPS],
            ADA,
            [],
            "server:ada may not do this alone; the role finance, and also the role ops have to approve",
        ),
        ([FINANCE, OPS], BOB, [], None),
        ([TWO], ADA, [], "may not do this alone"),
        ([EYES], ADA, ["server:eve"], "may not do this alone"),
        ([ANYBODY], Approver("ada", "claimed"), [], "may not do this alone"),
    ],
)
def test_what_one_person_does_without_a_review_takes_every_rule_and_no_second_person(
    rules: list[ApproverRule], approver: Approver, askers: list[str], why: str | None
) -> None:
    found = alone_fault(rules, approver, askers)

    assert found is None if why is None else why in str(found)


@pytest.mark.parametrize(("rule", "proposed"), [(OPS, False), (EYES, True), (TWO, True)])
def test_an_edit_is_a_proposal_under_four_eyes_or_a_quorum(rule: ApproverRule, proposed: bool) -> None:
    assert is_proposed([rule, OPS]) == proposed


BOTH = ("ada", "bob")
LATER = TimeLimit(60.0, escalate_after_s=30.0, to_names=("cy",))


@pytest.mark.parametrize(
    ("rule", "needed"),
    [
        (ApproverRule(BOTH, four_eyes=True, quorum=2), BOTH),
        (ApproverRule(("ada",), four_eyes=True), ("ada",)),
        (ApproverRule(("ada", "Ada"), four_eyes=True), ("ada", "Ada")),
        (ApproverRule(BOTH, four_eyes=True), ()),
        (ApproverRule(BOTH, quorum=2), ()),
        (ApproverRule(BOTH, ("lead",), four_eyes=True, quorum=2), ()),
        (ApproverRule(BOTH, four_eyes=True, quorum=2, time=LATER), ()),
        (ApproverRule(BOTH, four_eyes=True, quorum=2, time=TimeLimit(60.0)), BOTH),
    ],
)
def test_under_four_eyes_none_may_ask_of_as_many_names_as_it_takes_unless_others_may_decide_too(
    rule: ApproverRule, needed: tuple[str, ...]
) -> None:
    assert rule.needed == needed


ADA_EYES = ApproverRule(("ada",), four_eyes=True)


@pytest.mark.parametrize(
    ("rules", "askers", "named"),
    [
        ([ADA_EYES], ["server:Ada"], ("ada",)),
        ([ADA_EYES], ["server:eve"], ()),
        ([ADA_EYES], [], ("ada",)),
        ([ADA_EYES._replace(four_eyes=False)], ["server:ada"], ()),
        ([ADA_EYES._replace(roles=("lead",))], ["server:ada"], ()),
        ([ADA_EYES._replace(time=LATER)], ["server:ada"], ()),
        ([ADA_EYES._replace(time=TimeLimit(60.0))], ["server:ada"], ("ada",)),
        ([ApproverRule(BOTH, four_eyes=True)], ["server:ada"], ()),
        ([ApproverRule(BOTH, four_eyes=True)], ["server:ada", "server:bob"], BOTH),
        ([ApproverRule(BOTH, four_eyes=True)], ["claimed:eve"], ()),
        ([ApproverRule(BOTH, four_eyes=True, quorum=2)], ["server:ada"], BOTH),
        ([ApproverRule(("os:ada",), four_eyes=True)], ["os:ada"], ("os:ada",)),
        ([EYES], ["server:ada"], ()),
        ([EYES, FINANCE, ADA_EYES], ["server:ada"], ("ada",)),
    ],
)
def test_nobody_is_left_if_too_few_of_those_who_are_named_did_not_ask(
    rules: list[ApproverRule], askers: list[str], named: tuple[str, ...]
) -> None:
    assert nobody_left(rules, askers) == named


@pytest.mark.parametrize(
    ("rule", "words", "json"),
    [
        (ANYBODY, "a verified person", {}),
        (EYES, "a verified person (but nobody who asked for it)", {"four_eyes": True}),
        (
            ApproverRule(("ada", "os:bob"), ("ops",), quorum=2),
            "2 of ada, os:bob and the role ops",
            {"names": ["ada", "os:bob"], "roles": ["ops"], "quorum": 2},
        ),
        (ApproverRule(("ada", "bob")), "ada or bob", {"names": ["ada", "bob"]}),
        (ApproverRule(("ada", "bob"), quorum=2), "ada and bob", {"names": ["ada", "bob"], "quorum": 2}),
        (
            ApproverRule(("ada", "Ada", "bob"), quorum=2),
            "ada, Ada and bob",
            {"names": ["ada", "Ada", "bob"], "quorum": 2},
        ),
        (ApproverRule(("a", "b", "c"), quorum=2), "2 of a, b and c", {"names": ["a", "b", "c"], "quorum": 2}),
        (ApproverRule(("a", "b"), ("ops",)), "a, b or the role ops", {"names": ["a", "b"], "roles": ["ops"]}),
        (ApproverRule(roles=("ops",), quorum=2), "2 of the role ops", {"roles": ["ops"], "quorum": 2}),
    ],
)
def test_a_rule_as_words_and_as_json(rule: ApproverRule, words: str, json: Any) -> None:
    assert str(rule) == words
    assert rule.to_json() == json


def test_the_rules_as_json_name_what_is_set() -> None:
    assert Approvers().to_json() == {}
    assert RULES.to_json() == {
        "roles": ["ops"],
        "tools": {"pay": {"roles": ["finance"]}},
        "effects": {"read": {"roles": ["lead"]}},
        "cost": [{"above_usd": 10, "quorum": 2}, {"above_usd": 5, "four_eyes": True}],
    }


LATER = TimeLimit(20, escalate_after_s=10, to_names=("cy",), to_roles=("lead",))


@pytest.mark.parametrize(
    ("rule", "escalated_s", "people"),
    [
        (ApproverRule(names=("ada",), time=LATER), 9, ApproverRule(names=("ada",))),
        (ApproverRule(names=("ada",), time=LATER), 10, ApproverRule(names=("ada", "cy"), roles=("lead",))),
        (ApproverRule(roles=("ops",), time=LATER), 10, ApproverRule(names=("cy",), roles=("ops", "lead"))),
        (ApproverRule(time=LATER), 10, ANYBODY),
        (OPS, 10, OPS),
    ],
)
def test_an_escalation_adds_people_to_those_who_are_named(
    rule: ApproverRule, escalated_s: float, people: ApproverRule
) -> None:
    assert rule.people(escalated_s) == people


@pytest.mark.parametrize(
    ("raw", "rule"),
    [
        ({}, ANYBODY),
        ({"roles": ["ops"], "quorum": 2}, ApproverRule(roles=("ops",), quorum=2)),
        (
            {"names": ["[redacted]"], "quorum": "[redacted]", "four_eyes": True},
            ApproverRule(("[redacted]",), four_eyes=True),
        ),
    ],
)
def test_a_rule_on_record_is_read_even_if_it_was_redacted(raw: Any, rule: ApproverRule) -> None:
    assert ApproverRule.from_json(raw) == rule


def test_an_escalation_at_the_end_of_the_shortest_time_is_none() -> None:
    slow, quick = ApproverRule(roles=("ops",), time=LATER), ApproverRule(time=TimeLimit(10))

    deadline = Approvers(tools={"pay": slow}, costs=((0, quick),)).deadline([PAY], 1, 0.0)

    assert deadline is not None and deadline.escalations_s == ()
    assert Approvers().timed_rules([PAY], 0) == ()


ADA_ALONE = ApproverRule(names=("ada",))
WITHIN = TimeLimit(60.0)


@pytest.mark.parametrize(
    ("calls", "of_pay", "of_send"),
    [
        (None, (FINANCE,), (OPS,)),
        (Approvers(tools={"pay": ADA_ALONE}), (ADA_ALONE,), (OPS,)),
        (Approvers(LEAD), (LEAD,), (LEAD,)),
        (Approvers(LEAD, {"pay": ADA_ALONE}), (ADA_ALONE,), (LEAD,)),
        (Approvers(EYES, {"pay": LEAD}), (LEAD._replace(four_eyes=True),), (EYES,)),
        (Approvers(ApproverRule(time=WITHIN)), (FINANCE._replace(time=WITHIN),), (OPS._replace(time=WITHIN),)),
    ],
    ids=["no table", "of a tool", "of all", "of both", "in general", "only a time"],
)
def test_a_call_by_itself_falls_under_the_rules_of_calls_where_they_are_there(
    calls: Approvers | None, of_pay: Any, of_send: Any
) -> None:
    approvers = Approvers(OPS, {"pay": FINANCE}, calls=calls)

    assert approvers.timed_rules((), 0.0, calls=[PAY]) == approvers.of_call(PAY, 0.0, "calls") == of_pay
    assert approvers.timed_rules((), 0.0, calls=[SEND]) == of_send
    assert approvers.rules([PAY], 0.0) == approvers.of_call(PAY, 0.0) == (FINANCE,), "plans are as before"
    assert policy_from({"approvers": approvers.to_json()}).approvers == approvers


LONG, SHORT = TimeLimit(90.0), TimeLimit(30.0)


@pytest.mark.parametrize(
    ("approvers", "of_pay", "of_look"),
    [
        (Approvers(OPS), (OPS,), ()),
        (Approvers(OPS, {"pay": FINANCE._replace(time=LONG)}, calls=Approvers()), (FINANCE._replace(time=LONG),), ()),
        (
            Approvers(ApproverRule(time=WITHIN), {"pay": FINANCE._replace(time=LONG)}, calls=Approvers(LEAD)),
            (LEAD._replace(time=LONG),),
            (LEAD._replace(time=WITHIN),),
        ),
        (
            Approvers(OPS, {"pay": FINANCE._replace(time=LONG)}, calls=Approvers(LEAD._replace(time=SHORT))),
            (LEAD._replace(time=SHORT),),
            (LEAD._replace(time=SHORT),),
        ),
        (
            Approvers(OPS, calls=Approvers(ApproverRule(time=SHORT))),
            (OPS._replace(time=SHORT),),
            (ANYBODY._replace(time=SHORT),),
        ),
    ],
    ids=["no table", "an empty table", "the time of the plan's rule", "a time of its own", "only a time"],
)
def test_the_rule_of_a_call_has_a_time_of_its_own_or_that_of_the_tools_rule_in_plans_or_the_general_one(
    approvers: Approvers, of_pay: Any, of_look: Any
) -> None:
    assert approvers.of_call(PAY, 0.0, "calls") == of_pay
    assert approvers.of_call(LOOK, 0.0, "calls") == of_look


def test_what_holds_for_all_plans_does_not_hold_for_the_rules_of_calls_but_rules_by_cost_and_time_do() -> None:
    strict = Approvers(
        ApproverRule(four_eyes=True, quorum=2, time=WITHIN), costs=((10, LEAD),), calls=Approvers(ADA_ALONE)
    )

    assert strict.timed_rules((), 0.0, calls=[PAY]) == (ADA_ALONE._replace(time=WITHIN),)
    slow = Approvers(ApproverRule(time=WITHIN), {"pay": FINANCE._replace(time=TimeLimit(90.0))}, calls=strict.calls)
    assert slow.timed_rules((), 0.0, calls=[PAY]) == (ADA_ALONE._replace(time=TimeLimit(90.0)),)
    assert strict.rules((), 11.0, calls=[PAY]) == (ADA_ALONE, LEAD._replace(four_eyes=True, quorum=2))


def test_without_rules_on_plans_anybody_approves_them_and_ada_the_payments_that_are_shown() -> None:
    approvers = policy_from({"approvers": {"calls": {"tools": {"pay": {"names": ["ada"]}}}}}).approvers

    assert approvers.rules([PAY, SEND], None) == approvers.rules((), None, calls=[SEND]) == ()
    assert approvers.rules((), None, calls=[PAY]) == approvers.rules([SEND], None, calls=[PAY]) == (ADA_ALONE,)
