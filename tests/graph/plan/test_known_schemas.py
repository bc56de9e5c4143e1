from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.plan.bounded_schema import schema_fault
from planner_executor.graph.plan.known_schemas import PLAIN, is_plain, known_schema_fault

JSON = st.none() | st.booleans() | st.integers(-1, 3) | st.sampled_from([0.5, "a", "string", [], ["a"], ["a", "a"], {}])
SCHEMAS = st.recursive(
    JSON,
    lambda inner: st.dictionaries(
        st.sampled_from([*PLAIN, "pattern", "$ref", "oneOf"]),
        JSON | inner | st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2),
        max_size=3,
    ),
    max_leaves=8,
)


@given(SCHEMAS)
def test_a_plain_schema_has_no_fault(schema: Any) -> None:
    assert not isinstance(schema, dict) or not is_plain(schema) or schema_fault(schema) is None


@pytest.mark.parametrize(
    ("schema", "plain"),
    [
        ({"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}, "required": ["n"]}, True),
        ({"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "null"}], "default": None, "title": "N"}, True),
        ({"type": "array", "items": True, "maxItems": 0, "deprecated": False, "examples": [1]}, True),
        ({"properties": {}}, True),
        ({"properties": {"a": {"type": 1}, "b": {}}}, False),
        ({"type": "text"}, False),
        ({"type": ["string", "null"]}, False),
        ({"required": ["a", "a"]}, False),
        ({"required": [1]}, False),
        ({"required": ["a", 1]}, False),
        ({"required": "a"}, False),
        ({"properties": [{}]}, False),
        ({"properties": {"a": {"type": 1}}}, False),
        ({"anyOf": []}, False),
        ({"anyOf": [{"type": 1}]}, False),
        ({"anyOf": [{"type": 1}, {}]}, False),
        ({"anyOf": True}, False),
        ({"items": [{}]}, False),
        ({"maxItems": -1}, False),
        ({"maxItems": True}, False),
        ({"pattern": "a"}, False),
        ({"enum": "a"}, False),
        ({1: 2}, False),
    ],
)
def test_a_schema_of_other_keywords_or_values_is_not_plain(schema: Any, plain: bool) -> None:
    assert is_plain(schema) is plain


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(depth):
        schema = {"items": schema}
    return schema


@pytest.mark.parametrize(
    ("schema", "fault"),
    [
        ({"type": "string", "default": "a"}, None),
        ({"type": "string", "default": {1, 2}}, "it is not JSON"),
        ({"type": "string", "pattern": "a"}, None),
        ({"type": "text"}, "'text' is not valid"),
        ({"anyOf": [{}] * 2_001}, "more than 2000 of its parts apply to the same value"),
        (nested(5_000), "it is nested deeper than 100"),
    ],
    ids=["plain", "no JSON", "a pattern", "no type", "too much at once", "too deep"],
)
def test_a_fault_of_a_schema_is_that_of_a_whole_look(schema: Any, fault: str | None) -> None:
    found = known_schema_fault(schema)

    assert found == schema_fault(schema)
    assert found is None if fault is None else fault in str(found)


class Looked(dict[str, Any]):
    """A schema that counts how often somebody looks through it."""

    looks = 0

    def items(self) -> Any:
        self.looks += 1
        return super().items()


@pytest.mark.parametrize(("length", "is_known"), [(20_000, True), (20_001, False)])
def test_a_fault_is_remembered_of_schemas_up_to_a_length(length: int, is_known: bool) -> None:
    schema = Looked(description="x" * (length - len(repr({"description": ""}))))

    known_schema_fault(schema)
    first = schema.looks
    known_schema_fault(schema)

    assert (schema.looks < 2 * first) is is_known
