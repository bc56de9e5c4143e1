"""What a standing approval covers, and which wishes for one are understood."""

from dataclasses import replace
from typing import Any

import pytest

from graph.plan.catalog import ToolSpec
from graph.policy.policy import NO_POLICY, Policy
from graph.policy.standing import covers, standing_args, standing_fault, time_of
from graph.record.standing_approval import StandingApproval
from graph.record.trust_label import TrustLabel

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
