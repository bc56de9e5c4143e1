import json
from json import encoder as standard
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.plan.json_writer import COMPACT, json_writer

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
)


@given(values, st.sampled_from([COMPACT, (", ", ": ")]), st.booleans())
def test_it_writes_what_the_standard_encoder_writes(value: Any, separators: tuple[str, str], sort_keys: bool) -> None:
    standard_text = json.dumps(value, ensure_ascii=False, separators=separators, sort_keys=sort_keys)
    assert json_writer(separators=separators, sort_keys=sort_keys)(value) == standard_text


def test_it_refuses_what_is_no_number_if_told_to() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_writer(allow_nan=False)(float("nan"))


def test_it_keeps_the_order_of_keys_and_what_is_no_number_unless_told_otherwise() -> None:
    assert json_writer()({"b": 1, "a": float("nan")}) == '{"b": 1, "a": NaN}'


@pytest.mark.parametrize("made", [standard.c_make_encoder, None, lambda value: value])  # type: ignore[attr-defined]
def test_without_the_encoder_in_c_it_writes_and_refuses_the_same(monkeypatch: pytest.MonkeyPatch, made: Any) -> None:
    """Another release of Python may have none, or one that takes other arguments."""
    names = SimpleNamespace(c_make_encoder=made, encode_basestring=standard.encode_basestring)
    monkeypatch.setattr("planner_executor.graph.plan.json_writer.standard", names)
    write = json_writer(separators=COMPACT)
    assert write({"é": [1.0, None]}) == '{"é":[1.0,null]}'

    itself: list[Any] = []
    itself.append(itself)
    with pytest.raises(RecursionError):
        write(itself)
    with pytest.raises(TypeError, match="keys must be"):
        write({("a",): 1})
