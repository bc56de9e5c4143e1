"""A quick yes is never wrong, and is given where it matters."""

from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.plan.schema_fast_path import fast_object_test, fast_test

KINDS = ["string", "integer", "number", "boolean", "null", "array", "object"]
NAMES = st.sampled_from(["a", "b", "c"])
RULES: dict[str, Any] = {
    "minimum": 1,
    "maxLength": 1,
    "const": 1,
    "enum": ["a"],
    "pattern": "^a",
    "not": {},
    "minItems": 1,
}
rule = st.sampled_from(list(RULES.items())).map(lambda pair: {pair[0]: pair[1]})


def grown(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    properties = st.dictionaries(NAMES, inner, max_size=3)
    parts: dict[str, st.SearchStrategy[Any]] = {
        "properties": properties,
        "required": st.lists(NAMES, unique=True, max_size=2),
        "additionalProperties": inner,
    }
    objects = st.fixed_dictionaries({"type": st.just("object")}, optional=parts)
    lists = st.fixed_dictionaries({"type": st.just("array"), "items": inner})
    return objects | lists | st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=3)})


plain = st.booleans() | st.just({}) | st.sampled_from(KINDS).map(lambda kind: {"type": kind}) | rule
schemas = st.recursive(plain, grown, max_leaves=6).map(
    lambda schema: {**schema, "title": "T", "format": "date"} if isinstance(schema, dict) else schema
)
scalars = st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from([0.5, 1.0, "", "a", "bc"])
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=6
)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", [None, True, False, 0, 1, 1.0, 0.5, "", "1", [], [1], {}, {"a": 1}], ids=repr)
def test_of_types_the_quick_yes_knows_what_json_schema_says(kind: str, value: Any) -> None:
    is_valid = jsonschema.Draft202012Validator({"type": kind}).is_valid(value)

    assert fast_test({"type": kind})(value) == (is_valid and (kind, value, type(value)) != ("integer", 1, float))


@given(schemas, values)
def test_what_surely_fits_does_fit(schema: Any, value: Any) -> None:
    if fast_test(schema)(value):
        jsonschema.validate(value, schema, jsonschema.Draft202012Validator)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string", "title": "Q", "default": ""}, "x"),
        ({"type": "integer"}, 7),
        ({"type": "number"}, 7),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, None),
        ({"type": "array", "items": {"type": "string"}}, ["a", "b"]),
        ({"type": "object", "additionalProperties": True}, {"a": [1]}),
        ({"type": "object", "properties": {"a": {"type": "boolean"}}, "required": ["a"]}, {"a": True}),
        ({}, object()),
    ],
)
def test_what_most_tools_take_is_known_to_fit(schema: Any, value: Any) -> None:
    assert fast_test(schema)(value)


@pytest.mark.parametrize(
    ("args", "skipped", "fits"),
    [
        ({"a": 1}, (), True),
        ({"a": "{x_result}"}, ("a",), True),
        ({"a": "{x_result}"}, (), False),
        ({}, (), False),
        ({"a": 1, "c": 2}, (), False),
        ({"a": 1, "c": "{x_result}"}, ("c",), False),
    ],
)
def test_arguments_that_are_skipped_have_to_be_there_and_to_be_listed(
    args: dict[str, Any], skipped: tuple[str, ...], fits: bool
) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}

    assert fast_object_test(schema)(args, skipped) == fits


@pytest.mark.parametrize("also", [{"$schema": "http://json-schema.org/draft-04/schema#"}, {"minProperties": 1}])
def test_a_schema_that_says_more_is_left_to_others(also: dict[str, Any]) -> None:
    assert not fast_object_test({"type": "object", "properties": {"a": {}}, **also})({"a": 1}, ())
