import time

import pytest

from planner_executor.graph.plan.inline_schema import inline_schema_fault, schema_errors


def test_a_value_fits_or_what_is_wrong_is_said() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer", "maximum": 3}}}

    assert schema_errors(schema, {"n": 3}) == []
    assert schema_errors(schema, {"n": 4}) == ["4 is greater than the maximum of 3"]


def test_an_error_says_where_it_is_if_it_is_asked_to() -> None:
    schema = {"type": "object", "properties": {"n": {"items": {"properties": {"m": {"type": "integer"}}}}}}

    assert schema_errors(schema, {"n": [{"m": "x"}]}, placed=True) == ["n[0].m: 'x' is not of type 'integer'"]
    assert schema_errors(schema, {"n": [{"m": "x"}]}) == ["'x' is not of type 'integer'"]
    assert schema_errors(schema, 3, placed=True) == ["3 is not of type 'object'"]


def test_a_pattern_in_a_schema_takes_no_longer_than_any_other() -> None:
    begun = time.process_time()

    assert schema_errors({"items": {"pattern": "^(a+)+$"}}, ["a", "a" * 50_000 + "!"]) != []

    assert time.process_time() - begun < 5


@pytest.mark.parametrize(
    "schema",
    [
        {"pattern": "(?=a)"},
        {"properties": {"a": {"anyOf": [{"pattern": "("}]}}},
        {"patternProperties": {"(?=a)": {}}},
        {"patternProperties": {"a": {}}, "unevaluatedProperties": False},
        {"$dynamicRef": "#a"},
        {"$ref": "#/$defs/gone"},
        {"$schema": 3},
        {"type": "nonsense"},
    ],
    ids=str,
)
def test_a_schema_that_cannot_be_used_is_said_to_be_none(schema: dict[str, object]) -> None:
    assert inline_schema_fault(schema)


def test_a_schema_may_refer_to_itself() -> None:
    assert inline_schema_fault({"$ref": "#/$defs/n", "$defs": {"n": {"type": "integer"}}}) is None


def test_a_property_may_be_called_pattern() -> None:
    assert inline_schema_fault({"properties": {"pattern": {"type": "string"}}}) is None
