"""Two policies that hold at once."""

from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from policies import EFFECTS, POLICIES, spec

from planner_executor.graph.plan.catalog import Effect
from planner_executor.graph.policy.both import both
from planner_executor.graph.policy.policy import Policy
from planner_executor.graph.policy.policy_file import policy_from
from planner_executor.graph.policy.strictness import looser_points

KNOWN: dict[str, Effect] = {"send": "external", "look": "read"}
RANK = {"allow": 0, None: 1, "review": 2, "ask": 3, "deny": 4}


@given(POLICIES, POLICIES)
def test_both_are_at_least_as_strict_as_each_or_the_order_says_where_not(first: Policy, second: Policy) -> None:
    joined = both(first, second, KNOWN)

    for name, effect in KNOWN.items():
        tool = spec(name, effect)
        assert RANK[joined.verdict(tool)] >= max(RANK[one.verdict(tool)] for one in (first, second))
        for one in (first, second):
            if not looser_points(joined, one):
                for value in (0, 2, 4, 7, "a", "b"):
                    args: Any = {"x": value}
                    assert not one.faults(tool, args) or joined.faults(tool, args)


@given(POLICIES, POLICIES)
def test_what_holds_can_be_written_and_read_again(first: Policy, second: Policy) -> None:
    joined = both(first, second, KNOWN)

    assert policy_from(joined.to_json()).digest == joined.digest


@given(POLICIES, st.sampled_from(EFFECTS))
def test_a_policy_and_itself_are_that_policy(policy: Policy, effect: Effect) -> None:
    joined = both(policy, policy, {"send": effect})

    assert looser_points(joined, policy) == []


def test_no_part_of_a_policy_is_forgotten() -> None:
    joined = {"approval", "effects", "tools", "limits", "rates", "prices", "steps", "ask_when", "approvers", "per_day"}

    joined |= {"standing_s", "new_effects", "preview_changed", "leaving_previews"}
    assert {each.name for each in fields(Policy)} == joined


@pytest.mark.parametrize(
    ("first", "second", "holds"),
    [
        (
            {"limits": {"tool_calls": 3}},
            {"limits": {"tool_calls": 5, "steps": 2}},
            {"limits": {"tool_calls": 3, "steps": 2}},
        ),
        ({"rates": {"send": 3}}, {"rates": {"send": 2, "look": 1}}, {"rates": {"send": 2, "look": 1}}),
        ({"standing": {"longest": "7d"}}, {"standing": {"longest": "8d"}}, {"standing": {"longest": "7d"}}),
        ({"approval": "never"}, {"approval": "always"}, {"approval": "always"}),
        ({"steps": {"attempts": 3}}, {"steps": {"attempts": 2}}, {"steps": {"attempts": 2}}),
        ({}, {"approvers": {"names": ["ada"]}}, {"approvers": {"names": ["ada"]}}),
        (
            {"limits": {"per_day": {"tokens": 5}}},
            {"limits": {"per_day": {"tokens": 7, "per_user": {"tokens": 1}}}},
            {"limits": {"per_day": {"tokens": 5, "per_user": {"tokens": 1}}}},
        ),
        (
            {"tools": {"send": {"args": {"x": {"minimum": 1, "maximum": 5, "untrusted_from": ["look"]}}}}},
            {"tools": {"send": {"args": {"x": {"minimum": 2, "maximum": 9}}}}},
            {"tools": {"send": {"args": {"x": {"minimum": 2, "maximum": 5}}}}},
        ),
        (
            {"effects": {"external": "deny"}},
            {"tools": {"send": {"verdict": "allow"}}},
            {"effects": {"external": "deny"}, "tools": {"send": {"verdict": "deny"}}},
        ),
        (
            {"effects": {"external": {"ask_when": {"x": {"above": 1}}}}},
            {"tools": {"send": {"ask_when": {"y": {"above": 2}}}}},
            {
                "effects": {"external": {"ask_when": {"x": {"above": 1}}}},
                "tools": {"send": {"ask_when": {"x": {"above": 1}, "y": {"above": 2}}}},
            },
        ),
        ({"preview_changed": "go"}, {"preview_changed": "go"}, {"preview_changed": "go"}),
        (
            {"tools": {"send": {"reason": True}}},
            {"tools": {"send": {"verdict": "review"}}},
            {"tools": {"send": {"verdict": "review", "reason": True}}},
        ),
        (
            {"effects": {"external": "deny"}, "tools": {"send": {"verdict": "deny"}}},
            {"effects": {"external": "deny"}, "tools": {"send": {"reason": True}}},
            {"effects": {"external": "deny"}, "tools": {"send": {"verdict": "deny", "reason": True}}},
        ),
        (
            {"limits": {"per_day": {"tokens": 5, "time_zone": "Europe/Berlin"}}},
            {},
            {"limits": {"per_day": {"tokens": 5, "time_zone": "Europe/Berlin"}}},
        ),
        ({"leaving_previews": ["a", "b"]}, {"leaving_previews": ["b", "c"]}, {"leaving_previews": ["b"]}),
        ({"limits": {"per_day": {"tokens": 5}}}, {}, {"limits": {"per_day": {"tokens": 5}}}),
        ({"tools": {"send": {"reason": True}}}, {}, {"tools": {"send": {"verdict": "review", "reason": True}}}),
        (
            {"tools": {"send": {"args": {"x": {"one_of": ["a"], "untrusted_from": ["look", "read"]}}}}},
            {"tools": {"send": {"args": {"x": {"one_of": ["a"], "untrusted_from": ["mail", "read"]}}}}},
            {"tools": {"send": {"args": {"x": {"one_of": ["a"], "untrusted_from": ["read"]}}}}},
        ),
        (
            {"tools": {"send": {"args": {"x": {"one_of": ["a"], "optional": True}}}}},
            {"tools": {"send": {"args": {"x": {"one_of": ["a"]}}}}},
            {"tools": {"send": {"args": {"x": {"one_of": ["a"]}}}}},
        ),
        (
            {"tools": {"send": {"args": {"x": {"one_of": ["a"], "optional": True}}}}},
            {"tools": {"send": {"args": {"x": {"one_of": ["a"], "optional": True}}}}},
            {"tools": {"send": {"args": {"x": {"one_of": ["a"], "optional": True}}}}},
        ),
        (
            {"effects": {"external": "ask"}, "tools": {"send": {"verdict": "ask"}}},
            {"effects": {"external": "ask"}},
            {"effects": {"external": "ask"}, "tools": {"send": {"verdict": "ask"}}},
        ),
        (
            {"effects": {"external": "ask"}, "tools": {"send": {"reason": True}}},
            {"effects": {"external": "ask"}},
            {"effects": {"external": "ask"}, "tools": {"send": {"reason": True}}},
        ),
        (
            {"effects": {"external": "allow"}, "tools": {"send": {"verdict": "allow"}}},
            {"effects": {"external": "allow"}, "tools": {"send": {"verdict": "allow"}}},
            {"effects": {"external": "allow"}, "tools": {"send": {}}},
        ),
    ],
)
def test_the_stricter_of_each_holds(first: Any, second: Any, holds: Any) -> None:
    for one, other in ((first, second), (second, first)):
        joined = both(policy_from(one), policy_from(other), KNOWN)
        assert joined == policy_from(holds)
        assert looser_points(joined, policy_from(one)) == looser_points(joined, policy_from(other)) == []


@pytest.mark.parametrize(
    ("first", "second", "apart"),
    [
        ({"approvers": {"names": ["ada"]}}, {"approvers": {"names": ["ben"]}}, "approvers are others"),
        (
            {"tools": {"send": {"args": {"x": {"pattern": "a+"}}}}},
            {"tools": {"send": {"args": {"x": {"pattern": "b+"}}}}},
            "send.x admits more values",
        ),
    ],
)
def test_what_one_policy_cannot_say_is_named(first: Any, second: Any, apart: str) -> None:
    joined = both(policy_from(first), policy_from(second), KNOWN)

    assert looser_points(joined, policy_from(second)) == [apart]
