"""Two calls are the same if their arguments are, whatever the spelling; nothing that differs is taken for the same."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.plan.same_call import call_digest

NODE = {"type": "object", "properties": {"n": {"default": 1}, "below": {"$ref": "#/$defs/node", "default": {}}}}
SCHEMA: dict[str, Any] = {
    "properties": {
        "to": {"type": "string"},
        "copies": {"type": "number", "default": 1},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        "how": {"anyOf": [{"$ref": "#/$defs/how"}, {"type": "null"}]},
        "parts": {"type": "array", "items": {"$ref": "#/$defs/how"}},
        "tree": {"$ref": "#/$defs/node"},
    },
    "$defs": {"how": {"properties": {"loud": {"default": False}, "times": {"default": 2}}}, "node": NODE},
}
SAME = [
    ({"to": "ann", "copies": 2}, {"copies": 2.0, "to": "ann"}),
    ({"to": "ann"}, {"to": "ann", "copies": 1}),
    ({"to": "ann"}, {"to": "ann", "copies": 1.0, "note": None}),
    ({"how": {"times": 3}}, {"how": {"loud": False, "times": 3}}),
    ({"parts": [{}, {"loud": True}]}, {"parts": [{"loud": False, "times": 2.0}, {"loud": True, "times": 2}]}),
    ({"tree": {"below": {"n": 2}}}, {"tree": {"n": 1, "below": {"n": 2, "below": {}}}}),
    ({"copies": -0.0}, {"copies": 0}),
]
DIFFERENT = [
    ({"to": "ann"}, {"to": "Ann"}),
    ({"copies": 1}, {"copies": True}),
    ({"copies": 1}, {"copies": "1"}),
    ({}, {"to": None}),
    ({}, {"how": None}),
    ({"parts": []}, {}),
    ({"parts": [{}]}, {"parts": [{}, {}]}),
    ({"copies": 2**53 + 1}, {"copies": 2**53}),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_spelling_makes_no_other_call(one: Any, other: Any) -> None:
    assert call_digest(SCHEMA, one) == call_digest(SCHEMA, other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_other_arguments_make_another_call(one: Any, other: Any) -> None:
    assert call_digest(SCHEMA, one) != call_digest(SCHEMA, other)


values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "ann"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["n", "below", "loud"]), inner),
    max_leaves=6,
)
calls = st.fixed_dictionaries({}, optional=dict.fromkeys(SCHEMA["properties"], values))


@given(calls)
def test_an_argument_that_is_said_with_its_default_is_left_out(args: dict[str, Any]) -> None:
    said = {"copies": 1, "note": None, **args}

    assert call_digest(SCHEMA, said) == call_digest(SCHEMA, args)


@given(calls, calls)
def test_without_a_schema_only_equal_arguments_are_the_same(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert (call_digest({}, one) == call_digest({}, other)) == (
        repr(sorted(one.items())) == repr(sorted(other.items()))
    )


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"$ref": "#/no/such"},
        {"properties": []},
        {"allOf": [{"$ref": "#/allOf/0"}]},
        {"properties": {"to": {"default": float("nan")}}},
        {"allOf": [{"allOf": [{"allOf": [{"properties": {"to": True}}] * 50}] * 50}] * 50},
    ],
)
def test_a_schema_that_is_none_says_nothing_of_defaults(schema: dict[str, Any]) -> None:
    assert call_digest(schema, {"to": "ann"}) == call_digest({}, {"to": "ann"})


@pytest.mark.parametrize(("place", "is_seen"), [(198, True), (199, False)])
def test_the_first_200_parts_of_a_schema_say_what_a_default_is_and_no_more(place: int, is_seen: bool) -> None:
    parts: list[dict[str, Any]] = [{} for _ in range(place)]
    schema = {"allOf": [*parts, {"properties": {"to": {"default": "ann"}}}]}

    assert (call_digest(schema, {"to": "ann"}) == call_digest(schema, {})) is is_seen


def test_a_part_of_a_schema_that_is_there_many_times_is_looked_at_once() -> None:
    again: dict[str, Any] = {"$ref": "#/$defs/again"}
    default = {"properties": {"to": {"default": "ann"}}}
    schema = {"allOf": [*[again] * 300, default], "$defs": {"again": again}}

    assert call_digest(schema, {"to": "ann"}) == call_digest(schema, {})


def test_a_reference_to_another_document_says_nothing_of_defaults() -> None:
    schema = {"properties": {"to": {"$ref": "a/$defs/to"}}, "$defs": {"to": {"default": "ann"}}}

    assert call_digest(schema, {"to": "ann"}) != call_digest(schema, {})
