"""The plan format as a JSON Schema: what validation takes, it takes."""

import json

import pytest
from jsonschema import Draft202012Validator

from planner_executor.graph.plan.json_schema import plan_schema, revision_schema

TOOLS = ("search", "write")
PLAN = {
    "steps": [
        {"id": "a", "objective": "o", "tool": "search", "args": {"query": {"deep": [1, None]}}},
        {"id": "b", "objective": "o", "tools": ["write"], "depends_on": ["a"], "max_calls": 2, "output": "json"},
        {"id": "c", "objective": "o", "success_criteria": "some", "output": {"type": "object"}},
    ],
    "answer": {"text": "{c_result}"},
}


def test_a_plan_fits() -> None:
    Draft202012Validator.check_schema(plan_schema(TOOLS))
    Draft202012Validator(plan_schema(TOOLS)).validate(PLAN)


def test_a_revision_may_keep_steps() -> None:
    Draft202012Validator(revision_schema(TOOLS)).validate({"keep": ["a"], **PLAN})


@pytest.mark.parametrize("step", [{"tool": "serch"}, {"tools": ["serch"]}, {"query": "x"}, {"id": "1"}])
def test_invented_tools_and_keys_do_not_fit(step: dict[str, object]) -> None:
    plan = {"steps": [{"id": "a", "objective": "o", **step}]}

    assert not Draft202012Validator(plan_schema(TOOLS)).is_valid(plan)


def test_it_is_small_and_has_the_title_that_servers_want() -> None:
    assert plan_schema(TOOLS)["title"] == "plan" and revision_schema(TOOLS)["title"] == "revision"
    assert len(json.dumps(plan_schema(TOOLS))) < 3_000


def test_the_names_of_very_many_tools_are_left_out() -> None:
    many = tuple(f"tool_{number}" for number in range(1_000))

    assert "tool_7" not in json.dumps(plan_schema(many))
