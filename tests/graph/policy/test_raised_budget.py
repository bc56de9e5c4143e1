"""A budget that a person changes while a run is on record."""

from typing import Any

import pytest

from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.policy.approval_scope import ExecutionTerms
from planner_executor.graph.policy.policy_file import policy_from
from planner_executor.graph.policy.raised_budget import read_raised
from planner_executor.graph.record.budget import Budget

BEFORE = Budget(steps=5)
POLICY = policy_from({"limits": {"steps": 9, "calls": {"pay": 2}}})
TERMS = ExecutionTerms({"pay": ToolSpec("pay", "", {})}, "never", POLICY)


@pytest.mark.parametrize(
    ("raw", "before", "budget"),
    [
        ({"steps": 9, "calls": {"pay": 2}}, BEFORE, Budget(steps=9, calls={"pay": 2})),
        ({"steps": 1, "calls": {"pay": 1}}, BEFORE, Budget(steps=1, calls={"pay": 1})),
        (
            {"steps": 9, "cost_usd": 2.0, "calls": {"pay": 2}},
            Budget(cost_usd=1.0),
            Budget(steps=9, cost_usd=2.0, calls={"pay": 2}),
        ),
    ],
)
def test_a_budget_may_be_raised_up_to_the_hard_limits(raw: Any, before: Budget, budget: Budget) -> None:
    assert read_raised(raw, before, TERMS) == (budget, None)


@pytest.mark.parametrize(
    ("raw", "fault"),
    [
        ({"steps": 9, "calls": {"pay": 2, "mail": 1}}, "calls.mail is not a known tool"),
        (
            {"steps": 9, "cost_usd": 1.0, "calls": {"mail": 1}},
            "calls.mail is not a known tool; "
            "cost_usd cannot be set during a run, because prices are checked when a graph is built",
        ),
        ({"steps": 10, "calls": {"pay": 3}}, "the policy's hard limit of steps, calls.pay cannot be raised"),
    ],
)
def test_a_budget_with_a_fault_or_beyond_a_hard_limit_changes_nothing(raw: Any, fault: str) -> None:
    assert read_raised(raw, BEFORE, TERMS) == (BEFORE, fault)


def test_a_limit_that_is_no_number_is_named() -> None:
    budget, fault = read_raised({"steps": "many"}, BEFORE, TERMS)

    assert budget == BEFORE and fault is not None and fault.startswith("steps ")
