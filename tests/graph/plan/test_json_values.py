"""Which values a plan can hold."""

import math
from typing import Any

import pytest

from planner_executor.graph.plan.json_values import (
    LONG_INTEGER,
    TOO_DEEP,
    is_number,
    json_faults,
    long_integer_fault,
    texts_in,
    with_texts,
)

LEAST, MOST = -9_223_372_036_854_775_808, 18_446_744_073_709_551_615
"""SQLite and PostgreSQL keep the first in 64 bits with a sign, JSON parsers of other languages the last without."""
MAX_DEPTH = 100


def nested(depth: int, wrap: Any) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = wrap(value)
    return value


@pytest.mark.parametrize("value", [None, True, 0, -1.5, 1e300, LEAST, MOST, "ä", "", [], {}, {"a": [1, {"b": None}]}])
def test_json_is_taken(value: Any) -> None:
    assert json_faults(value) == []


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, LEAST - 1, MOST + 1, "a\0", "\ud800", b"a", ()])
def test_what_json_or_the_ledger_cannot_hold_is_a_fault_at_its_place(value: Any) -> None:
    ((path, fault),) = json_faults({"a": [1, value]})
    assert path == ".a[1]" and fault


def test_a_number_that_is_none_is_named() -> None:
    assert json_faults(math.nan) == [("", "nan is not a JSON number")]


@pytest.mark.parametrize("wrap", [lambda value: [value], lambda value: {"k": value}])
def test_nesting_has_a_limit_in_lists_and_in_objects(wrap: Any) -> None:
    assert json_faults(nested(MAX_DEPTH, wrap)) == []
    ((path, fault),) = json_faults(nested(MAX_DEPTH + 1, wrap))
    assert fault == TOO_DEEP and len(path) == 80


@pytest.mark.parametrize("key", ["a\0", "\udfff", 3])
def test_a_key_is_plain_text(key: Any) -> None:
    ((path, fault),) = json_faults({"a": {key: 1}})
    assert path == ".a" and fault.endswith("is not plain text")


def test_so_many_faults_are_listed_and_nesting_that_is_too_deep_always() -> None:
    assert len(json_faults([b"a"] * 30)) == 20
    assert len(json_faults([b"a"] * 30, most=3)) == 3
    deep = nested(MAX_DEPTH + 1, lambda value: [value])
    assert json_faults([deep, *[b"a"] * 30], most=3)[-1][1] == TOO_DEEP


@pytest.mark.parametrize("value", [None, "a", True, 1e300, LEAST, MOST, [], {"a": [LEAST, {"b": (MOST, "c")}]}])
def test_integers_of_64_bits_and_what_is_no_integer_can_be_kept(value: Any) -> None:
    assert long_integer_fault(value) is None


@pytest.mark.parametrize(
    "value", [LEAST - 1, MOST + 1, [MOST + 1, 1], (1, MOST + 1), {"a": [{"b": LEAST - 1}], "c": 1}]
)
def test_a_longer_integer_is_a_fault_wherever_it_is(value: Any) -> None:
    assert long_integer_fault(value) == LONG_INTEGER


@pytest.mark.parametrize(
    ("value", "is_one"), [(0, True), (1, True), (0.5, True), (True, False), (False, False), ("5", False), (None, False)]
)
def test_a_boolean_and_a_text_are_no_number(value: Any, is_one: bool) -> None:
    assert is_number(value) is is_one


def test_texts_are_changed_wherever_they_stand_and_keys_stay() -> None:
    assert with_texts({"a": ["b", 1, None, {"c": "d"}], "e": "f"}, str.upper) == {
        "a": ["B", 1, None, {"c": "D"}],
        "e": "F",
    }
    assert with_texts("a", len) == 1 and with_texts(2.5, str.upper) == 2.5


def test_texts_are_found_in_their_order_and_keys_and_numbers_are_none() -> None:
    assert [*texts_in({"a": ["x", {"b": "y"}, 1], "c": ("z", None)})] == ["x", "y", "z"]
