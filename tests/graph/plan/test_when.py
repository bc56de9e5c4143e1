from typing import Any

import pytest
from jsonschema import Draft202012Validator

from planner_executor.graph.plan.reading import read_plan
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.plan.when import WHEN_SCHEMA, describe_when

A: dict[str, Any] = {"id": "a", "objective": "o"}


def issues(**fields: Any) -> list[str]:
    return [str(issue) for issue in read_plan({"steps": [A, {"id": "b", "objective": "o", **fields}]}, {}).issues]


@pytest.mark.parametrize(
    ("when", "fits"),
    [
        ({"of": 1, "condition": "@"}, True),
        ({"condition": "@"}, False),
        ({"of": 1}, False),
        ({"of": 1, "condition": 2}, False),
        ({"of": 1, "condition": "@", "else": 3}, False),
    ],
)
def test_servers_that_enforce_a_schema_let_through_what_is_a_condition(when: Any, fits: bool) -> None:
    assert Draft202012Validator(WHEN_SCHEMA).is_valid(when) is fits


def test_a_condition_is_read_kept_and_part_of_the_digest() -> None:
    when = {"of": {"n": "{a_result.n}"}, "condition": "n > `1`"}
    steps = [A, {"id": "b", "objective": "o", "when": when}, {"id": "c", "objective": "o", "depends_on": ["b"]}]

    plan = read_plan({"steps": steps}, {}).plan
    without = read_plan({"steps": [A, {**steps[1], "when": None}, steps[2]]}, {}).plan
    joined = read_plan({"steps": [*steps[:2], {**steps[2], "run_if": "any"}]}, {}).plan

    assert plan is not None and without is not None and joined is not None
    assert plan.to_json()["steps"][1]["when"] == when
    assert plan.by_id["b"].waits == ("a",)
    assert len({plan.digest, without.digest, joined.digest}) == 3
    assert Plan.model_validate(plan.to_json()).digest == plan.digest


@pytest.mark.parametrize(
    ("when", "fault"),
    [
        ({"condition": "@"}, "b.when.of: is missing"),
        ({"of": "{a_result}"}, "b.when.condition: must be a JMESPath"),
        ({"of": "{a_result}", "condition": "n >"}, "b.when.condition: 'n >'"),
        ({"of": "{a_result}", "condition": "@", "else": 1}, "b.when: unknown key 'else'"),
        ({"of": "{c_result}", "condition": "@"}, "b.when.of: {c_result} refers to no step"),
        ({"of": "{a.n}", "condition": "@"}, "b.when.of: "),
        ("{a_result} > 1", "b.when: "),
    ],
)
def test_a_condition_that_cannot_be_evaluated_is_a_fault(when: Any, fault: str) -> None:
    assert any(issue.startswith(fault) for issue in issues(when=when)), issues(when=when)


def test_a_step_cannot_run_if_all_or_none() -> None:
    assert [issue.partition(":")[0] for issue in issues(run_if="all")] == ["b.run_if"]


def test_a_condition_over_a_structure_is_described_as_json() -> None:
    assert describe_when({"of": {"n": 1}, "condition": "n > `0`"}) == 'n > `0` of {"n":1}'


def test_the_item_of_a_list_is_no_part_of_the_condition_of_the_whole_step() -> None:
    found = issues(for_each="{a_result}", when={"of": "{item_result.n}", "condition": "@"})

    assert any("when.of" in issue and "no step" in issue for issue in found)
