"""How a check is written: what is wrong with it is said before anyone approves the plan."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.check import describe_check
from planner_executor.graph.plan.checks import KINDS
from planner_executor.graph.plan.issues import Issue
from planner_executor.graph.plan.json_schema import plan_schema
from planner_executor.graph.plan.reading import ParsedPlan, read_plan
from planner_executor.graph.plan.schema import Step

TOOLS = {name: ToolSpec(name, "", {"type": "object"}) for name in ("search", "write")}
GOOD: list[dict[str, Any]] = [
    {"schema": {"type": "object", "properties": {"a": {"pattern": "^x"}}}},
    {"condition": "length(items) > `0`"},
    {"matches": r"(?i)\bwind\b"},
    {"range": [0, 10.5]},
    {"range": [None, 10], "of": "total"},
    {"range": [0, None]},
    {"range": [2, 2]},
    {"non_empty": True, "of": "items[0].name"},
    {"file_exists": "reports/a b.md"},
    {"cites": 3},
    {"called": "search"},
]


def read(*checks: Any, **fields: Any) -> ParsedPlan:
    given = {"tool": "search", **fields}
    return read_plan({"steps": [{"id": "a", "objective": "o", **given, "checks": list(checks)}]}, TOOLS)


def faults(*checks: Any, **fields: Any) -> list[Issue]:
    reading = read(*checks, **fields)
    assert reading.plan is None
    return list(reading.issues)


def test_all_of_them_are_read_as_they_stand() -> None:
    plan = read(*GOOD).plan

    assert plan is not None and plan.to_json()["steps"][0]["checks"] == GOOD
    assert {next(iter(check)) for check in GOOD} == set(KINDS)


def test_a_check_is_part_of_what_is_approved() -> None:
    with_it, without = read({"cites": 1}).plan, read().plan

    assert with_it is not None and without is not None and with_it.digest != without.digest


def test_null_is_an_absent_key() -> None:
    assert read({"cites": 1, "of": None, "matches": None}).plan == read({"cites": 1}).plan


@pytest.mark.parametrize(
    ("check", "named"),
    [
        ({}, "a check has exactly one of"),
        ({"of": "total"}, "this one has none"),
        ({"cites": 1, "non_empty": True}, "this one has cites and non_empty"),
        ({"longer_than": 3}, "unknown check 'longer_than'"),
        ({"schema": {"type": "nonsense"}}, "not a usable JSON Schema"),
        ({"schema": {"$ref": "https://x.org/s"}}, "not a usable JSON Schema"),
        ({"schema": {"pattern": "(?=a)"}}, "not a regular expression of RE2"),
        ({"schema": {"patternProperties": {"(?=a)": {}}}}, "not a regular expression of RE2"),
        ({"schema": "object"}, "must be a JSON Schema"),
        ({"condition": "total >"}, "is not a JMESPath"),
        ({"condition": True}, "must be a JMESPath"),
        ({"condition": " "}, "must be a JMESPath"),
        ({"matches": "("}, "not a regular expression of RE2: missing )"),
        ({"matches": r"(a)\1"}, "not a regular expression of RE2"),
        ({"matches": "a" * 1001}, "longer than 1000"),
        ({"matches": ["a"]}, "must be a regular expression"),
        ({"range": [1]}, "two numbers"),
        ({"range": [True, 2]}, "two numbers"),
        ({"range": [None, None]}, "open at both ends"),
        ({"range": [2, 1]}, "is empty; give the smaller"),
        ({"range": "0-1"}, "two numbers"),
        ({"range": 2}, "two numbers"),
        ({"non_empty": False}, "non_empty must be true"),
        ({"non_empty": 1}, "non_empty must be true"),
        ({"file_exists": "../secret"}, "climbs out"),
        ({"file_exists": "/etc/passwd"}, "is absolute"),
        ({"file_exists": True}, "must be the path of a file"),
        ({"cites": 0}, "least number of citations"),
        ({"cites": True}, "least number of citations"),
        ({"called": "write"}, "not a tool of the step; its tools: search"),
        ({"called": 3}, "must be the name of a tool"),
        ({"called": "search", "of": "x"}, "of does not go with called"),
        ({"file_exists": "a.md", "of": "x"}, "of does not go with file_exists"),
        ({"cites": 1, "of": "["}, "of '[' is not a JMESPath"),
        ({"cites": 1, "of": 3}, "of must be a JMESPath"),
    ],
    ids=str,
)
def test_what_cannot_be_decided_is_an_issue_that_says_what_to_write(check: dict[str, Any], named: str) -> None:
    issues = faults({"cites": 1}, check)

    assert {(issue.step, issue.field) for issue in issues} == {("a", "checks[1]")}
    assert any(named in issue.message for issue in issues)


@pytest.mark.parametrize("checks", [{"cites": 1}, "cites", [3], [["cites", 1]]], ids=str)
def test_checks_are_a_list_of_objects(checks: Any) -> None:
    reading = read_plan({"steps": [{"id": "a", "objective": "o", "checks": checks}]}, TOOLS)

    assert reading.plan is None and all(issue.field.startswith("checks") for issue in reading.issues)


@pytest.mark.parametrize(
    ("kind", "fits"),
    [
        ({"tool": "search"}, True),
        ({"tool": None, "tools": ["search"]}, True),
        ({"tool": None, "gather": [1]}, True),
        ({"tool": None, "refine": True}, True),
        ({"for_each": [1]}, True),
        ({"tool": None, "ask": "Well?"}, False),
        ({"tool": None, "gate": "look"}, False),
    ],
    ids=str,
)
def test_they_are_for_steps_whose_result_is_no_persons(kind: dict[str, Any], fits: bool) -> None:
    assert (read({"non_empty": True}, **kind).plan is not None) == fits


@pytest.mark.parametrize("kind", [{"gather": [1]}, {"refine": True, "tools": ["search"]}, {"tools": []}], ids=str)
def test_a_step_that_calls_nothing_cannot_have_called_a_tool(kind: dict[str, Any]) -> None:
    (issue,) = faults({"called": "search"}, tool=None, **kind)

    assert "not a tool of the step; its tools: none" in issue.message


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(["\ud800", "a\0", "[", "("]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*KINDS, "of", "type", "$ref"]), inner),
    max_leaves=8,
)


@given(st.lists(JSON, max_size=3))
def test_whatever_stands_there_is_read_or_refused(checks: list[Any]) -> None:
    reading = read(*checks)

    assert (reading.plan is None) == bool(reading.issues)
    if reading.plan is not None:
        assert all(describe_check(check) for check in reading.plan.steps[0].checks)


def test_the_form_that_servers_are_told_takes_them() -> None:
    from jsonschema import Draft202012Validator

    plan = {"steps": [Step(id="a", objective="o", tool="search", checks=tuple(GOOD)).to_json()]}

    assert Draft202012Validator(plan_schema([TOOLS["search"]])).is_valid(plan)
    plan["steps"][0]["checks"] = [{"longer_than": 3}]
    assert not Draft202012Validator(plan_schema([TOOLS["search"]])).is_valid(plan)
