"""The line of an entry in a TOML text."""

from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.words.toml_lines import line_of


@given(st.text(max_size=200), st.lists(st.text(max_size=5), max_size=4).map(tuple))
def test_any_text_has_a_line_or_none(text: str, path: tuple[str, ...]) -> None:
    line = line_of(text, path)

    assert line is None or 1 <= line <= len(text.splitlines())
