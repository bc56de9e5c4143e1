"""Whether one policy is at least as strict as another."""

from typing import Any

import pytest
from hypothesis import given
from policies import EFFECTS, POLICIES, RANK, TOOLS, spec

from planner_executor.graph.policy.policy import Policy
from planner_executor.graph.policy.policy_file import policy_from
from planner_executor.graph.policy.strictness import looser_points


def allows_more(policy: Policy, than: Policy) -> bool:
    """Whether some call passes under the one policy and not, or not as easily, under the other."""
    rules = (policy.new_effects, than.new_effects), (policy.preview_changed, than.preview_changed)
    if rules[0] == ("ask", "deny") or rules[1] == ("go", "ask"):
        return True
    if not {*policy.leaving_previews} <= {*than.leaving_previews}:
        return True
    for name in TOOLS:
        for effect in EFFECTS:
            tool = spec(name, effect)
            if RANK[policy.verdict(tool)] < RANK[than.verdict(tool)]:
                return True
            for value in (0, 2, 4, 7, "a", "b", "c"):
                args: Any = {"x": value}
                denied = than.verdict(tool) == "deny"
                if not denied and than.faults(tool, args) and not policy.faults(tool, args):
                    return True
        for source in TOOLS:
            if policy.admits(name, "x", (source,)) and not than.admits(name, "x", (source,)):
                return True
    return bool(policy.limits.beyond(than.limits))


@given(POLICIES, POLICIES)
def test_a_policy_that_allows_more_is_never_taken_for_as_strict(policy: Policy, than: Policy) -> None:
    if allows_more(policy, than):
        assert looser_points(policy, than)


@given(POLICIES)
def test_a_policy_is_as_strict_as_itself(policy: Policy) -> None:
    assert looser_points(policy, policy) == []


@pytest.mark.parametrize(
    ("policy", "than"),
    [
        ({"approval": "never"}, {}),
        ({}, {"approval": "side_effects"}),
        ({"approval": "side_effects"}, {"approval": "always"}),
        ({"tools": {"send": {"verdict": "review"}}}, {"effects": {"external": "deny"}}),
        ({"effects": {"external": "allow"}}, {}),
        ({}, {"tools": {"send": {"args": {"x": {"pattern": "a"}}}}}),
        ({"tools": {"send": {"verdict": "deny"}}}, {"effects": {"external": "review"}}),
        ({}, {"rates": {"send": 3}}),
        ({"preview_changed": "go"}, {}),
        ({"leaving_previews": ["send"]}, {"leaving_previews": ["quote"]}),
        ({}, {"standing": {"longest": "7d"}}),
        ({"standing": {"longest": "8d"}}, {"standing": {"longest": "7d"}}),
        ({"rates": {"send": 4}}, {"rates": {"send": 3}}),
        ({}, {"prices": {"m": {"input": 1, "output": 1}}}),
    ],
)
def test_what_is_looser_is_named(policy: dict[str, Any], than: dict[str, Any]) -> None:
    assert looser_points(policy_from(policy), policy_from(than))


@pytest.mark.parametrize(
    ("policy", "than"),
    [
        ({"approval": "always"}, {}),
        ({"tools": {"send": {"verdict": "deny"}}}, {"tools": {"send": {"verdict": "review"}}}),
        ({"tools": {"send": {"args": {"x": {"minimum": 2}}}}}, {"tools": {"send": {"args": {"x": {"minimum": 1}}}}}),
        ({"limits": {"tool_calls": 1}, "rates": {"send": 2}}, {"limits": {"tool_calls": 2}, "rates": {"send": 3}}),
    ],
)
def test_what_is_stricter_is_not(policy: dict[str, Any], than: dict[str, Any]) -> None:
    assert looser_points(policy_from(policy), policy_from(than)) == []


PER_DAY = {"per_day": {"tokens": 5}}
NUMBERS = {"x": {"minimum": 1, "maximum": 9}}
BOUNDS = {"x": {"above": 1, "below": 9}}
WRITES = {"effects": {"write": {"ask_when": BOUNDS}}}


def rules(**rule: Any) -> dict[str, Any]:
    return {"tools": {"send": rule}}


@pytest.mark.parametrize(
    ("policy", "than", "points"),
    [
        ({"approval": "side_effects"}, {"approval": "always"}, ["approval is side_effects"]),
        ({"approval": "side_effects"}, {"approval": "side_effects"}, []),
        ({"approval": "always"}, {"approval": "side_effects"}, []),
        ({}, {"approval": "side_effects"}, ["approval is not set"]),
        ({}, {"approval": "never"}, []),
        ({"effects": {"write": "ask"}}, {"effects": {"write": "review"}}, ["a tool with effect write is ask"]),
        ({"effects": {"write": "ask"}}, {"effects": {"write": "allow"}}, []),
        ({}, {"effects": {"write": "deny"}}, ["a tool with effect write is not mentioned"]),
        (rules(verdict="allow"), rules(verdict="deny"), ["send is allow"]),
        ({}, rules(verdict="deny"), ["send is not mentioned"]),
        ({"effects": dict.fromkeys(EFFECTS, "deny")}, rules(verdict="deny"), []),
        ({"effects": {"read": "deny"}}, rules(verdict="deny"), ["send is not mentioned"]),
        (rules(args=NUMBERS), rules(args=NUMBERS), []),
        (rules(args={"x": {"minimum": 0, "maximum": 9}}), rules(args=NUMBERS), ["send.x admits more values"]),
        (rules(args={"x": {"minimum": 2, "maximum": 10}}), rules(args=NUMBERS), ["send.x admits more values"]),
        (rules(args={"x": {"minimum": 2, "maximum": 8}}), rules(args=NUMBERS), []),
        (rules(args={"x": {"minimum": 2}}), rules(args=NUMBERS), ["send.x admits more values"]),
        (rules(args={"x": {"maximum": 2}}), rules(args=NUMBERS), ["send.x admits more values"]),
        (rules(args=BOUNDS), rules(args=BOUNDS), []),
        (rules(args={"x": {"above": 0, "below": 9}}), rules(args=BOUNDS), ["send.x admits more values"]),
        (rules(args={"x": {"above": 2, "below": 10}}), rules(args=BOUNDS), ["send.x admits more values"]),
        (rules(args={"x": {"above": 2, "below": 8}}), rules(args=BOUNDS), []),
        (rules(args={"x": {"above": 2}}), rules(args=BOUNDS), ["send.x admits more values"]),
        (rules(args={"x": {"below": 2}}), rules(args=BOUNDS), ["send.x admits more values"]),
        (rules(args={"x": {"minimum": 1}}), {}, []),
        (rules(args={"x": {"pattern": "a"}}), {}, []),
        (rules(args={"x": {"one_of": [1]}}), rules(args={"x": {"one_of": [True]}}), ["send.x admits more values"]),
        (rules(args={"x": {"within": ["a"]}}), rules(args={"x": {"within": ["a"]}}), []),
        (rules(args={"x": {"untrusted_from": ["look"]}}), {}, ["send.x admits more values"]),
        ({}, rules(args={"x": {"untrusted_from": ["look"]}}), []),
        (rules(ask_when=BOUNDS), rules(ask_when=BOUNDS), []),
        (rules(ask_when=NUMBERS), rules(ask_when=BOUNDS), ["send is shown under other conditions"] * 3),
        ({}, WRITES, ["a tool with effect write is shown under other conditions"]),
        (rules(ask_when=BOUNDS), {}, []),
        (rules(verdict="ask"), rules(ask_when=BOUNDS), []),
        ({}, rules(verdict="ask", ask_when=BOUNDS), ["send is not mentioned"]),
        ({"limits": {"tokens": 9}}, {"limits": {"tokens": 8}}, ["limits.tokens is higher or not set"]),
        ({}, {"limits": PER_DAY}, ["limits.per_day.tokens is higher or not set"]),
        ({"rates": {"send": 3}}, {"rates": {"send": 3}}, []),
        ({"standing": {"longest": "8d"}}, {"standing": {"longest": "7d"}}, ["standing.longest is higher or not set"]),
        ({"standing": {"longest": "7d"}}, {}, []),
        ({"rates": {"send": 4}}, {"rates": {"send": 3}}, ["the rate of send is higher or not set"]),
        ({"steps": {"timeout_s": 9}}, {"steps": {"timeout_s": 9}}, []),
        ({"steps": {"timeout_s": 10}}, {"steps": {"timeout_s": 9}}, ["steps.timeout_s is higher or not set"]),
        ({}, {"steps": {"timeout_s": 9}}, ["steps.timeout_s is higher or not set"]),
        ({"approvers": {"roles": ["a"]}}, {}, []),
        ({}, {"approvers": {"roles": ["a"]}}, ["approvers are others"]),
        ({"approvers": {"roles": ["b"]}}, {"approvers": {"roles": ["a"]}}, ["approvers are others"]),
        ({"approvers": {"roles": ["a"]}}, {"approvers": {"roles": ["a"]}}, []),
        ({}, {"prices": {"m": {"input": 1, "output": 1}}}, ["the price of m differs"]),
        ({"prices": {"m": {"input": 1, "output": 1}}}, {}, []),
        ({"prices": {"m": {"input": 1, "output": 1}}}, {"prices": {"m": {"input": 1, "output": 1}}}, []),
    ],
)  # fmt: skip
def test_each_point_is_named_and_nothing_else(policy: Any, than: Any, points: list[str]) -> None:
    loosest = {"approval": "never"} if "approval" not in policy and "approval" not in than else {}

    assert looser_points(policy_from({**loosest, **policy}), policy_from({**loosest, **than})) == points
