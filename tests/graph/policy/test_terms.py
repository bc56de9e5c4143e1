"""How the terms here differ from those on record, and which hold."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from policies import POLICIES

from planner_executor.graph.policy import terms
from planner_executor.graph.policy.policy import Policy
from planner_executor.graph.policy.policy_file import policy_from
from planner_executor.graph.policy.strictness import looser_points
from planner_executor.graph.policy.terms import Comparison, Terms
from planner_executor.graph.record.budget import Budget
from planner_executor.graph.settings.settings import RANKS

SETTINGS = {"approval": "side_effects", "replan": "failure", "horizon": None, "max_replans": 2, "timeout_s": None}
MAIL = {"name": "mail", "description": "sends", "effect": "external", "timeout_s": 5}
WEB = {"name": "web", "description": "reads", "effect": "read"}
READ = {"name": "read", "description": "reads", "effect": "read", "reads": ["/a"]}
THEN = Terms(
    tools={"mail": MAIL, "web": WEB, "read": READ},
    models={"planner": ["gpt-5"]},
    executors={"small": ["gpt-5-mini"]},
    settings={**SETTINGS, "instructions": {}, "record_prompts": False},
    policy=policy_from({"limits": {"tool_calls": 5}}),
    budget=Budget(tool_calls=9),
)


def compare(ours: Terms, theirs: Terms) -> Comparison:
    return terms.compare(ours, theirs, RANKS)


def here(**change: Any) -> Terms:
    settings = {**THEN.settings, **change.pop("settings", {})}
    return replace(THEN, settings=settings, **change)


def test_equal_terms_hold_as_they_are() -> None:
    found = compare(here(), THEN)

    assert (found.differences, found.terms, found.is_new, found.sentence, found.other) == ((), THEN, False, "", "")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"tools": {"mail": MAIL, "read": READ}}, "needs web: name it with --tools or --mcp"),
        ({"tools": {}}, "needs mail, web, read: name them with --tools or --mcp"),
        ({"tools": {**THEN.tools, "mail": {**MAIL, "effect": "read"}}}, "mail has changed"),
        (
            {"tools": {**THEN.tools, "mail": {**MAIL, "description": "!"}, "web": {**WEB, "place": "x"}}},
            "mail, web have changed",
        ),
        (
            {"tools": {"mail": MAIL, "web": {**WEB, "reads": ["/b", "/c"]}, "read": {**READ, "reads": ["/b", "/c"]}}},
            "reads /a on record, here /b, /c",
        ),
        ({"tools": {**THEN.tools, "read": {**READ, "reads": []}}}, "reads /a on record, here no folder"),
        ({"models": {"planner": ["gpt-4", "gpt-5"]}}, "role planner: needs gpt-5, here is gpt-4 then gpt-5"),
        ({"models": {**THEN.models, "judge": ["x" * 41]}}, "role judge: needs none, here is another one"),
        ({"models": {**THEN.models, "judge": ["x" * 40]}}, f"role judge: needs none, here is {'x' * 40}"),
        ({"executors": {}}, "executor small: needs gpt-5-mini, here is none"),
        ({"settings": {"instructions": {"planner": "!"}}}, 'instructions: {} on record, here is {"planner":"!"}'),
    ],
)
def test_what_has_no_order_is_other(change: dict[str, Any], words: str) -> None:
    found = compare(here(**change), THEN)

    assert (found.other, found.sentence) == (words, "")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"settings": {"approval": "always"}}, "approval: side_effects on record, here is always"),
        ({"settings": {"replan": "never"}}, "replan: failure on record, here is never"),
        ({"settings": {"max_replans": 1}}, "max_replans: 2 on record, here is 1"),
        ({"settings": {"timeout_s": 5}}, "timeout_s: none on record, here is 5"),
        ({"budget": Budget(tool_calls=8)}, "budget: tool_calls 9 on record, here is 8"),
        (
            {"policy": policy_from({"limits": {"tool_calls": 4}})},
            "policy: on record limits.tool_calls is higher or not set",
        ),
    ],
)
def test_what_is_stricter_here_holds_from_now_on(change: dict[str, Any], words: str) -> None:
    found = compare(here(**change), THEN)

    assert (found.stricter, found.weaker, found.other, found.is_new) == (words, "", "", True)
    assert found.terms == here(**change)
    assert found.sentence == f"stricter here, and holds from now on: {words}"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"settings": {"approval": "never"}}, "approval: side_effects on record, here is never"),
        ({"settings": {"replan": "every_step"}}, "replan: failure on record, here is every_step"),
        ({"settings": {"horizon": 1}}, "horizon: none on record, here is 1"),
        ({"settings": {"max_replans": 3}}, "max_replans: 2 on record, here is 3"),
        ({"settings": {"record_prompts": True}}, "record_prompts: false on record, here is true"),
        ({"budget": Budget(steps=1, tool_calls=9)}, None),
        ({"budget": Budget()}, "budget: tool_calls 9 on record, here is none"),
        ({"policy": Policy()}, "policy: limits.tool_calls is higher or not set"),
        ({"tools": {**THEN.tools, "pay": MAIL}}, "begun without pay"),
        ({"executors": {**THEN.executors, "big": ["gpt-6"]}}, "begun without executor big"),
    ],
)
def test_where_terms_are_weaker_here_those_on_record_hold(change: dict[str, Any], words: str | None) -> None:
    found = compare(here(**change), THEN)

    if words is None:
        assert found.terms.budget == Budget(tool_calls=9, steps=1) and found.is_new
    else:
        assert (found.stricter, found.weaker, found.other, found.is_new) == ("", words, "", False)
        assert found.terms == THEN


def test_policies_that_are_each_stricter_somewhere_both_hold_and_are_said_so() -> None:
    found = compare(here(policy=policy_from({"rates": {"mail": 1}})), THEN)

    assert found.terms.policy == policy_from({"limits": {"tool_calls": 5}, "rates": {"mail": 1}})
    assert found.stricter == "policy: on record the rate of mail is higher or not set"
    assert found.weaker == "policy: limits.tool_calls is higher or not set"


def test_policies_of_which_one_cannot_say_both_are_other() -> None:
    then = replace(THEN, policy=policy_from({"approvers": {"names": ["ada"]}}))

    found = compare(here(policy=policy_from({"approvers": {"names": ["ben"]}})), then)

    assert found.other == "policy: both cannot hold: approvers are others"


def test_policies_that_differ_in_words_alone_are_equal() -> None:
    same = policy_from({"limits": {"tool_calls": 5}, "approval": "side_effects"})

    assert compare(here(policy=same), THEN).differences == ()


def test_a_setting_that_an_earlier_release_did_not_record_is_not_compared() -> None:
    then = replace(THEN, settings={"approval": "side_effects"})

    found = compare(here(), then)

    assert found.differences == () and found.terms.settings == here().settings


def test_folders_that_an_earlier_release_did_not_record_are_not_compared() -> None:
    recorded = {**THEN.tools, "read": {name: READ[name] for name in READ if name != "reads"}}

    assert compare(here(), replace(THEN, tools=recorded)).differences == ()


def test_how_long_a_tool_is_tried_is_no_part_of_its_face() -> None:
    assert compare(here(tools={**THEN.tools, "mail": {**MAIL, "timeout_s": 9}}), THEN).differences == ()


@given(POLICIES, POLICIES)
def test_whatever_the_policies_the_one_that_holds_allows_no_more_than_either(ours: Policy, theirs: Policy) -> None:
    ours, theirs = replace(ours, approval=None), replace(theirs, approval=None)
    found = compare(here(policy=ours), replace(THEN, policy=theirs))

    if not found.other:
        assert looser_points(found.terms.policy, ours) == looser_points(found.terms.policy, theirs) == []


def test_terms_that_are_accepted_are_those_on_record_from_then_on() -> None:
    ours = here(tools={}, budget=Budget())

    found = compare(ours, THEN).accepted(ours)

    assert (found.terms, found.is_new, found.other) == (ours, True, "")
    assert found.sentence == f"weaker here, so that the terms on record hold: {found.weaker}" and found.weaker
    assert not compare(here(), THEN).accepted(here()).is_new


def test_what_an_earlier_release_did_not_record_of_a_tool_is_not_compared() -> None:
    tools = {**THEN.tools, "mail": {**MAIL, "summary": "sends mail", "reversible": True}}

    assert compare(here(tools=tools), THEN).differences == ()
    assert compare(here(), replace(THEN, tools=tools)).other == "mail has changed"


def test_policies_that_say_the_same_in_other_words_are_equal() -> None:
    policy = policy_from({"limits": {"tool_calls": 5}, "tools": {"mail": {}}})

    assert compare(here(policy=policy), THEN).differences == ()
