from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.desk.views.schema_form import (
    DEEPEST,
    MOST_CHOICES,
    MOST_FIELDS,
    faults_in,
    field_at,
    fields_of,
    value_in,
)

ADDRESS = {
    "type": "object",
    "title": "Address",
    "properties": {"city": {"type": "string"}, "zip": {"type": "string", "maxLength": 10}},
    "required": ["city"],
}
REFUND = {
    "type": "object",
    "properties": {
        "to": {"type": "string", "title": "To", "description": "a mail address", "maxLength": 100},
        "amount": {"type": "number", "minimum": 0, "maximum": 500},
        "times": {"type": "integer", "default": 1},
        "final": {"type": "boolean"},
        "currency": {"enum": ["EUR", "USD"]},
        "on": {"type": "string", "format": "date"},
        "notes": {"type": "array", "items": {"type": "string"}},
        "parts": {"type": "array", "items": {"type": "integer"}},
        "address": {"$ref": "#/$defs/Address"},
        "why": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "odd": {"type": "array", "items": {"type": "object"}},
    },
    "required": ["to", "amount"],
    "$defs": {"Address": ADDRESS},
}


def test_each_plain_type_has_a_field_of_its_own_and_only_the_rest_is_json() -> None:
    fields = {field.name: field for field in fields_of(REFUND)}

    assert {name: field.input for name, field in fields.items()} == {
        "/to": "text",
        "/amount": "number",
        "/times": "number",
        "/final": "choice",
        "/currency": "choice",
        "/on": "date",
        "/notes": "lines",
        "/parts": "lines",
        "/address/city": "long",
        "/address/zip": "text",
        "/why": "long",
        "/odd": "json",
    }
    assert (fields["/to"].label, fields["/address/city"].label) == ("To", "Address: city")
    assert (fields["/amount"].hint, fields["/times"].hint) == ("at least 0, at most 500", "1 if empty")
    assert [fields[name].required for name in ("/to", "/times")] == [True, False]


def test_filled_fields_are_the_value_and_empty_ones_are_left_out() -> None:
    texts = {
        "/to": "ann",
        "/amount": "12.5",
        "/final": "true",
        "/currency": '"EUR"',
        "/on": "2026-03-01",
        "/odd": "[{}]",
    }
    texts |= {"/notes": "one\r\n\r\n 2 ", "/parts": "1\n2", "/address/city": "Bern", "/times": "", "/why": ""}

    assert value_in(fields_of(REFUND), None, texts) == {
        "to": "ann",
        "amount": 12.5,
        "final": True,
        "currency": "EUR",
        "on": "2026-03-01",
        "notes": ["one", "2"],
        "parts": [1, 2],
        "address": {"city": "Bern"},
        "odd": [{}],
    }
    assert value_in(fields_of(None), None, {"": "12:30"}) == "12:30"


def test_an_emptied_field_leaves_its_value_out_unless_it_is_required_text() -> None:
    was = {"to": "ann", "amount": 3, "times": 2, "address": {"zip": "1"}}

    made = value_in(fields_of(REFUND, was), was, {"/to": "", "/amount": "", "/times": "", "/address/zip": ""})

    assert made == {"to": ""}


def test_a_reference_stands_in_the_place_of_any_type() -> None:
    was = {"to": "{a_result}", "amount": "{a_result.price}", "currency": "{a_result.unit}", "on": "{a_result.day}"}
    was |= {"notes": "{a_result.notes}", "address": "{a_result.home}", "final": "{a_result.ok}"}
    fields = fields_of(REFUND, was)

    assert value_in(fields, was, {}) == was
    assert value_in(fields, was, {"/amount": "{b_result.sum}"})["amount"] == "{b_result.sum}"
    assert value_in(fields, was, {"/amount": "4"})["amount"] == 4
    assert ('"{a_result.unit}"', '"{a_result.unit}"') in field_at(fields, "args.currency").choices  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ({"to": "ann", "amount": "much"}, "/amount"),
        ({"to": "ann"}, "/amount"),
        ({"to": "ann", "amount": 501}, "/amount"),
        ({"to": "ann", "amount": 1, "parts": [1, "x"]}, "/parts"),
        ({"to": "ann", "amount": 1, "address": {"zip": "1"}}, "/address/city"),
        ({"to": "ann", "amount": 1, "address": 5}, "/address"),
        ({"to": "ann", "amount": 1, "currency": "CHF"}, "/currency"),
    ],
)
def test_a_fault_names_its_field(value: dict[str, Any], place: str) -> None:
    ((found, _),) = faults_in(REFUND, value, fields_of(REFUND, value))

    assert found is not None and found.name == place


def test_what_has_too_many_fields_or_says_too_little_is_one_json_text() -> None:
    many = {"type": "object", "properties": {f"p{n}": {} for n in range(MOST_FIELDS + 1)}}

    for schema in (many, True, {"type": "object"}, {"properties": 5}, 7):
        (field,) = fields_of(schema, {"a": "\u202e"})
        assert (field.name, field.input, "\\u202e" in field.text) == ("", "json", True)
        assert value_in([field], {"a": 1}, {"": '{"b": 2}'}) == {"b": 2}
    (field,) = fields_of({"properties": {"unit": {"enum": [f"u{n}" for n in range(MOST_CHOICES + 1)]}}}, {"unit": "u1"})
    assert (field.input, field.text, field.read("u2")) == ("json", "u1", "u2")
    (field,) = fields_of({"type": "object", "properties": {"more": {"$ref": "#"}}})
    assert (field.name, field.input) == ("/more" * DEEPEST, "json")


TEXTS = st.one_of(st.text(max_size=12), st.sampled_from(["{a_result.x}", "5", "true", " x\r\ny ", "\u202e", '"q"', ""]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from([*REFUND["properties"], "a/b", "~1", "extra"])  # type: ignore[misc]
OBJECTS = st.dictionaries(
    NAMES, VALUES | st.fixed_dictionaries({}, optional={"city": VALUES, "zip": VALUES, "": VALUES})
)


@given(OBJECTS)
def test_an_untouched_form_is_the_value_whatever_it_is(value: dict[str, Any]) -> None:
    for schema in (REFUND, {"properties": {"a/b": {"type": "string"}}}, None):
        fields = fields_of(schema, value)
        sent = {field.name: field.text.replace("\n", "\r\n") for field in fields}

        assert value_in(fields, value, sent) == value and value_in(fields, value, {}) == value
        assert len({field.name for field in fields}) == len(fields)


@given(st.fixed_dictionaries(
    {"to": TEXTS.map(str.strip).filter(bool), "amount": st.integers(0, 500)},
    optional={
        "times": st.integers(),
        "final": st.booleans(),
        "currency": st.sampled_from(["EUR", "USD"]),
        "on": st.dates().map(str),
        "parts": st.lists(st.integers(), min_size=1, max_size=4),
        "odd": st.lists(st.just({}), min_size=1, max_size=2),
        "address": st.fixed_dictionaries({"city": st.just("Bern")}, optional={"zip": st.just("3000")}),
    },
))  # fmt: skip
def test_what_a_form_shows_of_a_value_makes_that_value_anew(value: dict[str, Any]) -> None:
    sent = {field.name: field.text for field in fields_of(REFUND, value) if field.name != "/to"}
    made = value_in(fields_of(REFUND), None, {**sent, "/to": "ann"})

    assert made == {**value, "to": "ann"}
