from typing import Any

import pytest

from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.policy.approval_scope import ExecutionTerms
from planner_executor.graph.policy.plan_limits import limits_of_plan
from planner_executor.graph.policy.policy_file import policy_from

PAY = ToolSpec("pay", "", {"properties": {"to": {}, "amount": {}}})
POLICY = {"tools": {"pay": {"args": {"amount": {"above": 0, "maximum": 5000}, "to": {"untrusted_from": ["pay"]}}}}}


def told(*steps: Step, **policy: Any) -> list[str]:
    return list(limits_of_plan(Plan(steps=steps), ExecutionTerms({"pay": PAY}, "never", policy_from(policy))))


def step(**fields: Any) -> Step:
    return Step(id="a", objective="o", **fields)


@pytest.mark.parametrize(
    "fields",
    [
        {"tool": "pay", "args": {"amount": "{b_result}", "to": "x"}},
        {"tools": ("pay",)},
        {"tools": ("pay",), "args": {"amount": "up to {b_result}"}},
        {"tool": "pay", "args": {"amount": "{b_result}"}},
    ],
)
def test_a_value_that_comes_later_has_bounds_that_nobody_widens(fields: dict[str, Any]) -> None:
    lines = told(step(**fields), Step(id="b", objective="o"), **POLICY)

    assert lines == ["refused: a: its call of pay, unless amount is at most 5000 and is above 0"]


@pytest.mark.parametrize(
    "fields",
    [
        {"tool": "pay", "args": {"amount": 7}},
        {"tools": ("pay",), "args": {"amount": 7}},
        {"tool": "pay", "args": {"to": "{b_result}"}},
        {"tools": ("pay",), "args": {"to": "{b_result}"}},
        {"tool": "pay"},
    ],
)
def test_a_value_in_the_plan_was_checked_and_is_not_told(fields: dict[str, Any]) -> None:
    assert told(step(**fields), **POLICY) == []


def test_limits_and_caps_of_the_plans_own_tools_are_told() -> None:
    calls = {"calls": {"pay": 3, "mail": 4}}
    policy = {
        "limits": {**calls, "cost_usd": 10, "per_day": {**calls, "tokens": 9}},
        "rates": {"pay": "1/hour", "mail": "1/hour"},
    }

    assert told(step(tool="pay"), **policy) == [
        "limited: 10 US dollars in a run, which nobody can raise",
        "limited: 3 calls of pay in a run, which nobody can raise",
        "counted: at most 9 tokens a day, over all runs; a run that reaches it pauses until midnight (UTC)",
        "counted: at most 3 calls of pay a day, over all runs; a run that reaches it pauses until midnight (UTC)",
        "counted: at most 1 call of pay an hour, over all runs; a call waits for its turn",
    ]
