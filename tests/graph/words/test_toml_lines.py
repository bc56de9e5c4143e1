"""The line of an entry in a TOML text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.words.toml_lines import MAX_LINE_LENGTH, line_of


@given(st.text(max_size=200), st.lists(st.text(max_size=5), max_size=4).map(tuple))
def test_any_text_has_a_line_or_none(text: str, path: tuple[str, ...]) -> None:
    line = line_of(text, path)

    assert line is None or 1 <= line <= len(text.splitlines())


TEXT = """
approval = "always"
[limits]
"cost.usd" = 1
calls.pay = 3
[[approvers.cost]]
above_usd = 5
[tools.'send mail']
# verdict = "deny"
verdict = "ask"
args . to = { one_of = ["a"] }
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("approval",), 2),
        (("limits",), 3),
        (("limits", "cost.usd"), 4),
        (("limits", "calls"), 3),
        (("limits", "calls", "pay"), 5),
        (("limits", "calls", "pay", "a"), 5),
        (("limits", "tokens"), 3),
        (("approvers", "cost", "above_usd"), 7),
        (("tools", "send mail", "verdict"), 10),
        (("tools", "send mail", "args", "to", "one_of"), 11),
        (("tools",), None),
        (("rates",), None),
        ((), None),
    ],
)
def test_an_entry_has_its_line_or_that_of_what_it_stands_in(path: tuple[str, ...], line: int | None) -> None:
    assert line_of(TEXT, path) == line


def test_of_two_lines_that_say_the_same_the_first_counts() -> None:
    assert line_of("a = 1\na = 2", ("a",)) == 1


@pytest.mark.parametrize(("spaces", "line"), [(MAX_LINE_LENGTH - 2, 1), (MAX_LINE_LENGTH - 1, None)])
def test_only_the_beginning_of_a_long_line_is_searched(spaces: int, line: int | None) -> None:
    assert MAX_LINE_LENGTH == 1_000 and line_of(" " * spaces + "a=1", ("a",)) == line
