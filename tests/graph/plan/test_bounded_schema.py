"""Schemas from outside: whatever they say, to look at one and to hold a value to it is bounded in work."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from planner_executor.graph.plan.bounded_schema import bounded_errors, schema_fault
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.inline_schema import schema_errors
from planner_executor.graph.plan.reading import read_plan
from planner_executor.graph.plan.work import WorkLimitExceeded, work_limit

MOST_S = 5.0
"""Of processor time, for what a second is enough for elsewhere."""


def doubling(levels: int, part: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    """Return a small schema, each definition of which names the one before it twice."""
    named: dict[str, Any] = {"a0": {"type": "string"}}
    for level in range(1, levels):
        named[f"a{level}"] = part({"$ref": f"#/$defs/a{level - 1}"})
    return {"$ref": f"#/$defs/a{levels - 1}", "$defs": named}


def in_place(keyword: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda before: {keyword: [before, before]}


def deeper(before: dict[str, Any]) -> dict[str, Any]:
    return {"properties": {"x": before}, "allOf": [{"properties": {"x": before}}]}


def nested(levels: int) -> Any:
    value: Any = "leaf"
    for _ in range(levels):
        value = {"x": value}
    return value


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
def test_a_schema_that_doubles_with_each_level_is_refused_before_any_value_is_there(keyword: str) -> None:
    begun = time.process_time()

    fault = schema_fault(doubling(40, in_place(keyword)))

    assert fault is not None and "apply to the same value" in fault
    assert time.process_time() - begun < MOST_S


@pytest.fixture
def low_bound(monkeypatch: pytest.MonkeyPatch) -> int:
    """A bound that is reached in no time."""
    monkeypatch.setattr("planner_executor.graph.plan.bounded_schema.MAX_WORK", 5_000)
    return 5_000


def test_a_value_that_meets_more_of_a_schema_with_each_level_is_left_at_the_bound(low_bound: int) -> None:
    (fault,) = schema_errors(doubling(40, deeper), nested(39))

    assert f"{low_bound} steps of work" in fault


@pytest.mark.slow
def test_a_tool_of_such_a_schema_refuses_the_arguments_and_the_process_goes_on() -> None:
    spec = ToolSpec("t", "d", {"type": "object", **doubling(40, deeper)})
    begun = time.process_time()

    assert spec.schema_fault() is None
    ((place, fault),) = spec.argument_faults({"x": nested(38)})

    assert (place, "steps of work" in fault) == ("args", True)
    assert time.process_time() - begun < MOST_S


LONG = "texts of more than 100000 characters match nothing"
SLOW = "^(a+)+$"
TEXT = "a" * 60_000 + "!"


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"pattern": SLOW}, TEXT),
        ({"patternProperties": {SLOW: False}, "additionalProperties": False}, {TEXT: 1}),
        ({"propertyNames": {"pattern": SLOW}}, {TEXT: 1}),
        ({"properties": {"a": {"$schema": "http://json-schema.org/draft-07/schema#", "pattern": SLOW}}}, {"a": TEXT}),
        ({"$schema": "http://json-schema.org/draft-04/schema#", "pattern": SLOW}, TEXT),
    ],
    ids=["pattern", "patternProperties", "propertyNames", "another draft within", "an old draft"],
)
def test_patterns_are_those_of_re2_wherever_they_stand(schema: dict[str, Any], value: Any) -> None:
    begun = time.process_time()

    assert schema_fault(schema) is None
    assert schema_errors(schema, value)

    assert time.process_time() - begun < MOST_S


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"uniqueItems": True}, [[number, "a", None, {}] for number in range(20_000)]),
        ({"allOf": [{"type": "string"}] * 1_000}, ["x" * 1_000] * 5_000),
        ({"items": {"enum": [[number] for number in range(2_000)]}}, [[-1]] * 5_000),
        ({"unevaluatedItems": False, "contains": {"type": "integer"}}, list(range(20_000))),
        ({"items": {"type": "string"}}, list(range(200_000))),
    ],
    ids=["each with each", "long words of many errors", "long enumerations", "what is left over", "many errors"],
)
def test_large_values_end_in_an_answer_in_time(schema: dict[str, Any], value: Any) -> None:
    begun = time.process_time()

    schema_errors(schema, value)

    assert time.process_time() - begun < MOST_S


def test_what_is_not_known_within_the_bound_does_not_count_as_a_fit(low_bound: int) -> None:
    with pytest.raises(WorkLimitExceeded):
        list(bounded_errors({"items": {"minimum": 0}}, list(range(low_bound))))


def test_a_pattern_holds_for_the_whole_text_or_not_at_all() -> None:
    assert schema_errors({"pattern": "^[a-z]*$"}, "a" * 100_000 + ";") != []
    assert schema_errors({"pattern": "^[a-z]*$"}, "a\n") != []


def test_equal_items_are_told_by_what_json_says() -> None:
    unique = {"uniqueItems": True}

    assert schema_errors(unique, [1, True, "1", [1], [True]]) == []
    assert schema_errors(unique, [{"a": 1, "b": 2}, {"b": 2, "a": 1.0}]) != []


@pytest.mark.parametrize(
    ("schema", "value", "is_fit"),
    [
        ({"patternProperties": {"^n_": {"type": "integer"}}, "additionalProperties": False}, {"n_a": 1}, True),
        ({"patternProperties": {"^n_": {"type": "integer"}}, "additionalProperties": False}, {"n_a": "x"}, False),
        ({"patternProperties": {"^n_": {"type": "integer"}}, "additionalProperties": False}, {"b": 1}, False),
        ({"properties": {"a": {}}, "additionalProperties": {"type": "string"}}, {"a": 1, "b": "x"}, True),
        ({"properties": {"a": {}}, "additionalProperties": {"type": "string"}}, {"a": 1, "b": 2}, False),
        ({"properties": {"child": {"$ref": "#"}}, "required": ["n"]}, {"n": 1, "child": {"n": 2}}, True),
        ({"properties": {"child": {"$ref": "#"}}, "required": ["n"]}, {"n": 1, "child": {}}, False),
        ({"pattern": "[\\u4e00-\\u9fff]"}, "中", True),
        ({"not": {"$ref": "#/$defs/a"}, "$defs": {"a": {"type": "string"}}}, 1, True),
        ({"properties": {}, "additionalProperties": True}, {"a": 1}, True),
        ({"uniqueItems": False}, [1, 1], True),
        ({"uniqueItems": True}, "aa", True),
    ],
)
def test_keywords_mean_what_they_mean_elsewhere(schema: dict[str, Any], value: Any, is_fit: bool) -> None:
    assert schema_fault(schema) is None
    assert (schema_errors(schema, value) == []) is is_fit


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"$ref": "#"}, "refers to itself without end"),
        ({"not": nested(3_000)}, "nested deeper than 100"),
        ({"enum": list(range(30_000))}, "more than 20000 parts"),
        ({"properties": {"a": {"pattern": "(?!a)"}}}, "not a regular expression of RE2"),
        ({"patternProperties": {"(?!a)": {}}}, "not a regular expression of RE2"),
        ({"type": "text"}, "'text' is not valid"),
        ({"enum": [float("nan")]}, "it is not JSON"),
        ({"$id": "http://a.example/b", "$ref": "b"}, "refers to itself without end"),
    ],
)
def test_a_schema_that_cannot_be_used_is_named_before_it_is(schema: dict[str, Any], words: str) -> None:
    assert words in (ToolSpec("t", "d", schema).schema_fault() or "")


def test_the_schemas_of_one_plan_share_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planner_executor.graph.plan.reading.MAX_WORK", 5_000)
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    steps = [{"id": f"s{number}", "objective": "o", "output": schema} for number in range(100)]

    assert read_plan({"steps": steps[:1]}, {}).issues == ()
    assert any("5000 steps of work" in issue.message for issue in read_plan({"steps": steps}, {}).issues)


def steps(schema: dict[str, Any], value: Any) -> int:
    with work_limit(1_000) as work:
        list(bounded_errors(schema, value))
    return work.most - work.left


@pytest.mark.parametrize(
    ("schema", "value", "count"),
    [
        ({"minimum": 1}, 2, 1),
        ({"const": {"a": 1}}, {"a": 1}, 1 + 1 + 1 + 1),
        ({"const": "x" * 198}, 1, 1 + 4 + 221 // 200),
        ({"const": "x" * 170}, 1, 1 + 3),
        ({"allOf": [{}] * 29}, 1, 1 + 2),
        ({"allOf": [{}] * 30}, 1, 1 + 3),
        ({"maxItems": 99}, list(range(20)), 1),
        ({"contains": {}}, list(range(20)), 1 + 2),
        ({"unevaluatedItems": True}, list(range(20)), 1 + 40),
        ({"uniqueItems": True}, ["x" * 397], 1 + 1),
        ({"uniqueItems": True}, ["x" * 398], 1 + 2),
    ],
)
def test_each_keyword_costs_a_step_and_what_it_looks_at(schema: dict[str, Any], value: Any, count: int) -> None:
    assert steps(schema, value) == count


def test_a_value_may_cost_so_many_steps_and_have_so_many_errors() -> None:
    with pytest.raises(WorkLimitExceeded, match="more than 300000 steps"):
        list(bounded_errors({"unevaluatedItems": True}, list(range(2_000))))
    assert len(list(bounded_errors({"items": {"type": "string"}}, list(range(60))))) == 50


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["a"], "'a' was"),
        (["b", "a"], "'a', 'b' were"),
        ([chr(97 + n) for n in range(22)], ", ".join(repr(chr(97 + n)) for n in range(20)) + " were"),
    ],
)
def test_names_that_are_not_allowed_are_told(names: list[str], told: str) -> None:
    (error,) = bounded_errors({"additionalProperties": False}, dict.fromkeys(names))

    assert error.message == f"Additional properties are not allowed ({told} unexpected)"


@pytest.mark.parametrize(
    ("pattern", "text", "message"),
    [
        ("(?!a)", "x", "'(?!a)' is not a regular expression of RE2: invalid perl operator: (?!"),
        ("^b$", "a" * 100_000, f"'{'a' * 1_000}' does not match '^b$'"),
        ("^b$", "a" * 100_001, f"'{'a' * 1_000}' does not match '^b$'; {LONG}"),
    ],
)  # fmt: skip
def test_a_text_that_does_not_match_is_told_with_its_beginning(pattern: str, text: str, message: str) -> None:
    assert [error.message for error in bounded_errors({"pattern": pattern}, text)] == [message]


def test_a_reference_to_elsewhere_is_no_fault_of_a_schema_by_itself() -> None:
    assert schema_fault({"$ref": "https://a.example/b"}) is None
