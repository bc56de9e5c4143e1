"""The digest of a plan, computed as a stranger would: SHA-256 of the RFC 8785 form, defaults left out."""

import hashlib
from typing import Any

import pytest
import rfc8785

from planner_executor.graph.plan.reading import read_plan

NO_TOOLS: Any = {}
EACH = {"for_each": [1, 2]}


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ({"depends_on": [], "tools": [], "args": {}, "refine": False, "output": None, "success_criteria": None}, {}),
        ({"tool": "none", "input": {"x": 1.0}}, {"args": {"x": 1}}),
        ({"max_calls": 1}, {}),
        (EACH | {"max_items": 20, "max_failures": 0}, EACH),
        (EACH | {"max_items": 21, "max_failures": 1}, EACH | {"max_items": 21, "max_failures": 1}),
    ],
)
def test_plans_that_mean_the_same_share_the_digest_of_the_plan_without_defaults(
    written: dict[str, Any], meant: dict[str, Any]
) -> None:
    step = {"id": "a", "objective": "o"}
    plan = read_plan({"steps": [step | written], "answer": None}, NO_TOOLS).plan
    assert plan is not None
    assert plan.digest == hashlib.sha256(rfc8785.dumps({"steps": [step | meant]})).hexdigest()


@pytest.mark.parametrize("limit", [{"max_calls": True}, {"gate": "Ready?", "max_calls": 1}, {"max_items": 20}])
def test_a_limit_out_of_place_is_a_fault_even_at_its_default(limit: dict[str, Any]) -> None:
    assert read_plan({"steps": [{"id": "a", "objective": "o", **limit}]}, NO_TOOLS).plan is None
