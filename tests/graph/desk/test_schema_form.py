from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.desk.views.schema_form import (
    DEEPEST,
    MOST_CHOICES,
    MOST_FIELDS,
    FormField,
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


def only(part: Any, value: Any = None) -> FormField:
    """The field of a property `p` with this schema."""
    (field,) = fields_of({"properties": {"p": part}}, None if value is None else {"p": value})
    return field


TRUTH = [("true", "yes"), ("false", "no")]


@pytest.mark.parametrize(
    ("part", "value", "input_", "text", "hint"),
    [
        ({"type": "string", "maxLength": 120}, None, "text", "", "at most 120 characters"),
        ({"type": "string", "maxLength": 121}, None, "long", "", "at most 121 characters"),
        ({"type": "string", "maxLength": "9"}, None, "long", "", 'at most "9" characters'),
        ({"type": "string", "maxLength": 9}, "a\nb", "long", "a\nb", "at most 9 characters"),
        ({"type": "string", "description": "why"}, "5", "long", "5", "why"),
        ({"type": "string"}, "a\u202eb", "json", '"a\\u202eb"', ""),
        ({"type": "string", "format": "date"}, None, "date", "", ""),
        ({"type": "string", "format": "date"}, "2026-03-01", "date", "2026-03-01", ""),
        ({"type": "string", "format": "date"}, "20260301", "long", "20260301", ""),
        ({"type": "string", "format": "date"}, "soon", "long", "soon", ""),
        ({"type": "string", "format": "time"}, None, "long", "", ""),
        ({"type": "integer", "default": "x" * 100}, None, "number", "", f'"{"x" * 78}\u2026 if empty'),
        ({"type": "number"}, "5", "json", '"5"', ""),
        ({"type": "number"}, "{a_result}", "number", "{a_result}", ""),
        ({"type": ["integer", "null"]}, 5, "number", "5", ""),
        ({"type": ["integer", "string"]}, 5, "json", "5", "JSON"),
        ({"type": "array", "items": {"type": "integer"}}, [1, 2], "lines", "1\n2", "one a line"),
        ({"type": "array", "items": {"type": "string"}}, ["a", "b"], "lines", "a\nb", "one a line"),
        ({"type": "array", "items": {"type": "string"}}, "{a_result}", "json", '"{a_result}"', "one a line"),
        ({"type": "array", "items": {}}, [1], "json", "[\n  1\n]", "JSON"),
        ({"type": "string", "properties": {"q": {}}}, None, "long", "", ""),
        ({"properties": {}}, None, "json", "", ""),
        ({"properties": {}}, {"a": 1}, "json", '{\n  "a": 1\n}', ""),
        ({"anyOf": [True, {"type": "null"}]}, 5, "json", "5", ""),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, 5, "number", "5", ""),
        ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, 5, "json", "5", ""),
    ],
)
def test_a_field_takes_what_its_schema_allows_and_shows_what_is_there(
    part: Any, value: Any, input_: str, text: str, hint: str
) -> None:
    field = only(part, value)

    assert (field.input, field.text, field.hint, field.label) == (input_, text, hint, "p")
    assert value is None or field.read(field.text) == value


@pytest.mark.parametrize(
    ("part", "value", "choices"),
    [
        ({"type": "boolean"}, None, TRUTH),
        ({"type": "boolean"}, True, TRUTH),
        ({"type": "boolean"}, "{a_result}", [*TRUTH, ('"{a_result}"', '"{a_result}"')]),
        ({"enum": ["a", 1]}, 1, [('"a"', "a"), ("1", "1")]),
        ({"enum": ["a"]}, {"n": 1}, [('"a"', "a"), ('{"n": 1}', '{\n  "n": 1\n}')]),
    ],
)
def test_a_choice_has_what_stands_there_now(part: Any, value: Any, choices: list[tuple[str, str]]) -> None:
    assert list(only(part, value).choices) == choices


def test_so_many_choices_fields_and_levels_are_there() -> None:
    assert len(only({"enum": list(range(200))}).choices) == 200 and only({"enum": list(range(201))}).choices == ()
    assert len(fields_of({"properties": {f"p{n}": {} for n in range(50)}})) == 50
    (field,) = fields_of({"properties": {f"p{n}": {} for n in range(51)}}, label="All")
    assert (field.label, field.required, MOST_FIELDS, DEEPEST) == ("All", True, 50, 4)


def test_a_field_for_all_is_labelled_by_its_title_or_by_what_is_asked() -> None:
    assert [fields_of(schema)[0].label for schema in (None, {"title": "T"}, {"title": 5})] == ["Answer", "T", "5"]
    (field,) = fields_of({"title": "T", "type": "string", "maxLength": 9})
    assert (field.label, field.required, field.input) == ("T", True, "long")
    inner = fields_of({"title": "T", "properties": {"n": {}, "o": {"title": "O", "properties": {"m": {}}}}})
    assert [one.label for one in inner] == ["n", "O: m"]


def test_the_text_of_a_number_is_one_or_stays_text() -> None:
    read = only({"type": "number"}).read

    assert [read(text) for text in ("5", "1.5", "true", "[1]", "x")] == [5, 1.5, "true", "[1]", "x"]
    assert value_in(fields_of({"type": "string"}), None, {"": "5"}) == "5" and value_in([], None, {"": "5"}) == 5


def test_a_fault_is_that_of_the_nearest_field_or_of_the_first_within() -> None:
    fields = fields_of({"properties": {"a": {}, "a.b": {}, "o": {"properties": {"m": {}, "n": {}}}}})

    def at(place: str) -> str | None:
        found = field_at(fields, place)
        return found.name if found is not None else None

    assert [at(f"args.{place}") for place in ("a.c", "a.b", "a[0]", "o", "o.n", "none")] == [
        "/a", "/a.b", "/a", "/o/m", "/o/n", None,
    ]  # fmt: skip
    assert faults_in(None, {"a": 1}, fields) == faults_in({}, 5, fields) == []


@pytest.mark.parametrize(
    ("was", "left"),
    [
        ({"o": {"p": {"q": 1}, "r": 2}}, {"o": {"r": 2}}),
        ({"o": {"p": {"q": 1, "s": 3}}}, {"o": {"p": {"s": 3}}}),
        ({"o": {"p": {"q": 1}}, "t": 4}, {"t": 4}),
    ],
)
def test_what_is_left_with_nothing_goes_with_its_last_value(was: Any, left: Any) -> None:
    inner = {"properties": {"p": {"properties": {"q": {"type": "integer"}}}}}
    whole = fields_of({"properties": {"p": {}}}, {"p": {"a": 1}})

    assert value_in(whole, {"p": {"a": 1}}, {"/p": ""}) == {} and value_in(whole, None, {"/p": ""}) is None
    assert value_in(fields_of({"properties": {"o": inner}}, was), was, {"/o/p/q": ""}) == left
