import json
from json import encoder as standard
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.plan.json_writer import COMPACT, json_writer

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


def test_a_value_that_holds_itself_is_refused() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(RecursionError):
        json_writer()(value)


@pytest.mark.parametrize("made", [None, lambda value: value])
def test_without_the_encoder_in_c_it_writes_the_same(monkeypatch: pytest.MonkeyPatch, made: Any) -> None:
    """Another release of Python may have none, or one that takes other arguments."""
    names = SimpleNamespace(c_make_encoder=made, encode_basestring=standard.encode_basestring)
    monkeypatch.setattr("graph.plan.json_writer.standard", names)
    assert json_writer(separators=COMPACT)({"é": [1.0, None]}) == '{"é":[1.0,null]}'
