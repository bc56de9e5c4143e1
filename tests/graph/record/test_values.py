"""A tool's output as JSON: brought there once, or refused; never changed in silence."""

import json
from collections import OrderedDict, deque
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum
from hashlib import sha256
from pathlib import PurePosixPath
from typing import Any, NamedTuple
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from planner_executor.graph.errors import ResultError
from planner_executor.graph.record.values import INLINE_BYTES, keep, keep_constant, normalise, to_text

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


class Colour(Enum):
    RED = "red"


class Size(IntEnum):
    LARGE = 3


class Pair(NamedTuple):
    a: int
    b: int


class Whisper(str):
    def __str__(self) -> str:
        return "***"


@dataclass
class Point:
    x: int
    where: Any = None


class Model(BaseModel):
    when: date
    tags: tuple[str, ...] = ()


@given(plain)
def test_plain_json_comes_through_unchanged(value: Any) -> None:
    assert json.dumps(normalise(value)) == json.dumps(value)


@given(plain)
def test_normalising_twice_is_normalising_once(value: Any) -> None:
    assert normalise(normalise(value)) == normalise(value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        ((1, (2,)), [1, [2]]),
        (Pair(1, 2), [1, 2]),
        (OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
        (Colour.RED, "red"),
        (Size.LARGE, 3),
        (Point(1, [Point(2)]), {"x": 1, "where": [{"x": 2, "where": None}]}),
        (Model(when=date(2024, 2, 29), tags=("a",)), {"when": "2024-02-29", "tags": ["a"]}),
        (datetime(2024, 2, 29, 1, 2, 3, tzinfo=UTC), "2024-02-29T01:02:03+00:00"),
        (time(1, 2), "01:02:00"),
        (Decimal("1.10"), "1.10"),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (PurePosixPath("a/b"), "a/b"),
        (Whisper("loud"), "loud"),
        (2**200, 2**200),
        (-0.0, -0.0),
        ("\x00\u2028\U0001f600", "\x00\u2028\U0001f600"),
    ],
    ids=repr,
)
def test_the_usual_python_values_have_a_json_form(value: Any, expected: Any) -> None:
    found = normalise(value)

    assert found == expected
    assert json.loads(json.dumps(found)) == expected


@pytest.mark.parametrize("value", [True, False])
def test_a_boolean_stays_a_boolean(value: bool) -> None:
    assert normalise(value) is value


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        float("-inf"),
        b"bytes",
        bytearray(b"x"),
        memoryview(b"x"),
        {1, 2},
        frozenset(),
        (item for item in [1]),
        range(3),
        deque([1]),
        object(),
        print,
        Point,
        ValueError("no"),
        KeyboardInterrupt(),
        timedelta(1),
        1j,
        10**5000,
        Decimal,
        "\ud800",
        "a\udfffb",
    ],
    ids=lambda value: str(type(value)),
)
def test_what_json_cannot_carry_unchanged_is_refused_and_named(value: Any) -> None:
    with pytest.raises(ResultError) as caught:
        normalise({"list": [0, value]})

    assert caught.value.path == ".list[1]"


@pytest.mark.parametrize("key", [1, None, True, 1.5, ("a",), b"a", "\ud800", Size.LARGE], ids=repr)
def test_keys_are_text(key: Any) -> None:
    with pytest.raises(ResultError):
        normalise({key: 1})


def test_an_exception_in_a_result_is_no_result() -> None:
    with pytest.raises(ResultError, match="ValueError: no"):
        normalise([ValueError("no")])


def test_a_value_that_holds_itself_is_refused() -> None:
    ring: list[Any] = []
    ring.append({"again": ring})

    with pytest.raises(ResultError):
        normalise(ring)


def test_a_dataclass_that_holds_itself_is_refused() -> None:
    point = Point(1)
    point.where = point

    with pytest.raises(ResultError):
        normalise(point)


def test_two_hundred_levels_are_kept_and_can_be_written() -> None:
    value: Any = "x"
    for _ in range(200):
        value = [value]

    assert keep(normalise(value)).text == "[" * 200 + '"x"' + "]" * 200


def test_a_small_value_is_inlined() -> None:
    assert keep({"n": 1}).fields() == {"value": {"n": 1}}


def test_null_is_a_value_like_any_other() -> None:
    assert keep(None).fields() == {"value": None}


@pytest.mark.parametrize(("characters", "inlined"), [(INLINE_BYTES - 2, True), (INLINE_BYTES - 1, False)])
def test_the_bound_is_in_bytes_of_json_quotes_included(characters: int, inlined: bool) -> None:
    assert (keep("x" * characters).artifact is None) == inlined


def test_the_bound_counts_bytes_and_not_letters() -> None:
    assert keep("é" * (INLINE_BYTES // 2 - 1)).artifact is None
    assert keep("é" * (INLINE_BYTES // 2)).artifact is not None


def test_four_kilobytes_are_always_inlined() -> None:
    assert keep("x" * 4094).artifact is None


def test_a_large_value_is_an_artifact_named_by_its_content() -> None:
    kept = keep(["x" * 10_000])

    assert kept.artifact is not None
    data = to_text(["x" * 10_000]).encode()
    assert kept.fields() == {
        "artifact": {
            "id": sha256(data).hexdigest(),
            "size": len(data),
            "digest": "sha256:" + sha256(data).hexdigest(),
            "preview": data.decode()[:500],
        }
    }
    assert kept.text.encode() == data


@pytest.mark.parametrize("wide", [2**64, -(2**63) - 1, 10**300, [{"n": 2**64}]])
def test_an_integer_beyond_64_bits_makes_an_artifact_whose_preview_is_the_whole_json(wide: Any) -> None:
    artifact = keep({"wide": wide, "pad": "x" * 1000}).artifact

    assert artifact is not None
    assert json.loads(artifact.preview) == {"wide": wide, "pad": "x" * 1000}


@pytest.mark.parametrize("narrow", [2**64 - 1, -(2**63), 2.0**70, True])
def test_an_integer_of_64_bits_is_inlined(narrow: Any) -> None:
    assert keep([narrow]).artifact is None


@given(plain)
def test_what_is_kept_is_the_value(value: Any) -> None:
    kept = keep(value)

    assert json.dumps(json.loads(kept.text)) == json.dumps(value)
    assert kept.value == value
    assert (kept.artifact is None) == ("value" in kept.fields())


@pytest.mark.parametrize(("characters", "is_inline"), [(INLINE_BYTES - 2, True), (INLINE_BYTES - 1, False)])
def test_a_large_result_is_an_artifact_with_a_preview(characters: int, is_inline: bool) -> None:
    kept = keep("x" * characters)

    assert INLINE_BYTES == 8_192 and (kept.artifact is None) == is_inline
    assert kept.artifact is None or kept.artifact.preview == '"' + "x" * 499


@pytest.mark.parametrize(("characters", "is_whole"), [(600, True), (INLINE_BYTES, True), (INLINE_BYTES + 1, False)])
def test_a_result_that_is_too_wide_is_shown_whole_if_it_is_small(characters: int, is_whole: bool) -> None:
    around = len(to_text([2**70, ""]))
    kept = keep([2**70, "x" * (characters - around)])

    assert len(kept.text) == characters and kept.artifact is not None
    assert kept.artifact.preview == (kept.text if is_whole else kept.text[:500])


def test_one_wide_integer_makes_a_list_wide() -> None:
    assert keep([1, 2**70]).artifact is not None and keep([1, 2]).artifact is None


def test_a_value_that_many_runs_share_is_named_by_its_id() -> None:
    assert keep("x").named == {}
    assert keep_constant("x").named == {"id": sha256(b'"x"').hexdigest()}


@pytest.mark.parametrize("wrap", [lambda inner: [inner], lambda inner: {"k": inner}])
def test_a_value_may_be_nested_200_deep(wrap: Any) -> None:
    value: Any = 1
    for _ in range(200):
        value = wrap(value)

    assert normalise(value) == value
    with pytest.raises(ResultError) as caught:
        normalise(wrap(value))
    assert len(caught.value.path) == 80 and "deeper than 200" in str(caught.value)


def test_an_integer_may_have_14000_bits() -> None:
    assert normalise(2**13_999) == 2**13_999
    with pytest.raises(ResultError, match="14001 bits"):
        normalise(2**14_000)


def test_bytes_are_refused_with_the_way_out() -> None:
    with pytest.raises(ResultError, match="is bytes; return text, such as base64"):
        normalise(b"x")
