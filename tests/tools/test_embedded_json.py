from hypothesis import given, settings
from hypothesis import strategies as st

from planner_executor.tools.embedded_json import json_pieces


def test_braces_that_are_not_json_stay_text() -> None:
    text = 'a {"b": and [1] and {c} and {"d": 1'

    assert list(json_pieces(text)) == [(text, None)]


def test_two_objects_in_a_row_are_both_found() -> None:
    assert [value for _, value in json_pieces('{"a": 1} {"b": [2]}') if value] == [{"a": 1}, {"b": [2]}]


@settings(deadline=None)
@given(st.text(alphabet='[]{}",: a1\n', max_size=200))
def test_the_pieces_are_the_text(text: str) -> None:
    assert "".join(words for words, _ in json_pieces(text)) == text


def test_a_text_of_opening_brackets_is_read_in_no_time() -> None:
    for brackets in ("[", "[ ", '[{"', '{"a":['):
        assert len(list(json_pieces(brackets * 200_000))) == 1
