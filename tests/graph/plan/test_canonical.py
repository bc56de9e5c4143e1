"""RFC 8785, and the digest that an approval is about."""

import json
from decimal import Decimal
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.plan.canonical import canonical_json, digest
from planner_executor.graph.plan.schema import Plan, Step

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5), max_leaves=12
)


@given(values)
def test_what_the_reference_implementation_accepts_has_the_same_bytes(value: Any) -> None:
    assert canonical_json(value) == rfc8785.dumps(value)


@pytest.mark.parametrize("value", ['\x00\x1f\x7f\x80 \b\t\n\f\r"\\/', {"\ue000": 1, "\U0001f600": 2, "": 3, "é": 4}])
def test_control_characters_and_keys_beyond_the_first_plane_are_as_in_the_rfc(value: Any) -> None:
    assert canonical_json(value) == rfc8785.dumps(value)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    "number",
    [0.0, 9.999e-5, 1e-4, 1e-7, 0.1 + 0.2, 123456789012345.6, 999999999999999.9, 1e15, 1e16, 2.0**53, 1e20, 1e21, 1e22],
)
def test_floats_are_written_as_in_the_rfc_on_both_sides_of_each_bound(number: float, sign: int) -> None:
    assert canonical_json(sign * number) == rfc8785.dumps(sign * number)
    for beside in (1.0, 1e300):  # each is written in another way
        assert canonical_json([sign * number, beside]) == rfc8785.dumps([sign * number, beside])


@given(st.integers(), st.integers())
def test_different_integers_have_different_digests_however_large(one: int, other: int) -> None:
    assert (canonical_json(one) == canonical_json(other)) == (one == other)


def test_integers_beyond_2_to_53_keep_their_digits() -> None:
    assert canonical_json([2**53, 2**53 + 1, -(2**63)]) == b"[9007199254740992,9007199254740993,-9223372036854775808]"


@pytest.mark.parametrize(
    ("one", "other"),
    [(1, True), (0, False), (0, None), ("1", 1), ("", None), ([], {}), ([], None), ({"a": None}, {}), (1, 1.5)],
)
def test_values_of_different_types_have_different_digests(one: Any, other: Any) -> None:
    assert digest(one) != digest(other)


def test_a_number_is_the_same_however_it_is_written() -> None:
    assert digest(1) == digest(1.0) == digest(1e0)
    assert digest(0) == digest(-0.0)


@given(st.dictionaries(st.text(), values, max_size=5), st.randoms())
def test_the_order_of_keys_does_not_matter(value: dict[str, Any], random: Any) -> None:
    shuffled = list(value.items())
    random.shuffle(shuffled)

    assert digest(dict(shuffled)) == digest(value)


@given(values, values)
def test_two_values_share_a_digest_only_if_they_are_the_same_json(one: Any, other: Any) -> None:
    same = json.dumps(_normal(one), sort_keys=True) == json.dumps(_normal(other), sort_keys=True)

    assert (digest(one) == digest(other)) == same


def _normal(value: Any) -> Any:
    """Numbers as exact decimals, so that 1 and 1.0 are one and 1 and true are two."""
    if isinstance(value, dict):
        return {key: _normal(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_normal(item) for item in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return {"number": str(Decimal(repr(value)).normalize() + 0)}
    return {"text": value} if isinstance(value, str) else value


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800", {"\ud800": 1}, [[float("-inf")]]])
def test_what_json_cannot_hold_is_a_value_error(value: Any) -> None:
    with pytest.raises(ValueError):
        canonical_json(value)


STEP = Step(
    id="b",
    objective="o",
    tools=("x", "y"),
    args={"q": "{a_result}", "n": 1},
    success_criteria="c",
    depends_on=("a",),
    max_calls=2,
    output="json",
)
PLAN = Plan(steps=(Step(id="a", objective="o"), STEP), answer="{b_result}")


@pytest.mark.parametrize(
    "change",
    [
        {"id": "c"},
        {"objective": "O"},
        {"tools": ("y", "x")},
        {"tools": ()},
        {"tools": (), "tool": "x"},
        {"args": {"q": "{a_result}", "n": True}},
        {"args": {"q": "{a_result }", "n": 1}},
        {"args": {"q": "{a_result}", "n": 1, "m": None}},
        {"args": {}},
        {"success_criteria": None},
        {"success_criteria": ""},
        {"depends_on": ()},
        {"max_calls": 3},
        {"output": {}},
        {"output": None},
    ],
)
def test_any_change_of_a_step_changes_the_digest(change: dict[str, Any]) -> None:
    assert Plan(steps=(PLAN.steps[0], STEP.model_copy(update=change)), answer=PLAN.answer).digest != PLAN.digest


@pytest.mark.parametrize("answer", [None, "", "{b_result} ", ["{b_result}"], {}, False])
def test_any_change_of_the_answer_changes_the_digest(answer: Any) -> None:
    assert Plan(steps=PLAN.steps, answer=answer).digest != PLAN.digest


def test_the_order_of_steps_belongs_to_the_plan() -> None:
    assert Plan(steps=PLAN.steps[::-1], answer=PLAN.answer).digest != PLAN.digest


def test_defaults_are_left_out_of_the_digest() -> None:
    assert Plan(steps=(Step(id="a", objective="o"),)).to_json() == {"steps": [{"id": "a", "objective": "o"}]}


def test_the_digest_is_the_sha_256_of_the_canonical_plan() -> None:
    assert PLAN.digest == digest(PLAN.to_json())
    assert len(PLAN.digest) == 64
    assert int(PLAN.digest, 16) >= 0


def test_a_plan_without_anything_has_the_digest_it_always_had() -> None:
    assert Plan(answer="42").digest == "d60d576c4fecd1220b31e6e6cb42b75032f15c31ef68cb7b518309e32602ba60"


@pytest.mark.parametrize(
    "other",
    [{"args": {"q": "{a_result}", "n": 1.0}}, {"args": {"n": 1, "q": "{a_result}"}}],
)
def test_steps_are_the_same_where_their_json_is(other: dict[str, Any]) -> None:
    assert STEP.same_as(STEP.model_copy(update=other))


@pytest.mark.parametrize("other", [None, STEP.model_copy(update={"args": {"q": "{a_result}", "n": True}})])
def test_steps_that_python_takes_for_equal_may_differ(other: Step | None) -> None:
    assert not STEP.same_as(other)
