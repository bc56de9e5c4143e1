import pytest

from planner_executor.graph.text.changed_lines import MOST_LINES, MOST_SHOWN, changed_lines


@pytest.mark.parametrize("text", ["", "a", "a\nb\n"])
def test_a_text_has_not_changed_from_itself(text: str) -> None:
    assert list(changed_lines(text, text)) == []


def test_lines_far_from_a_change_are_left_out() -> None:
    before = "\n".join("abcdefghi")

    assert list(changed_lines(before, before.replace("e", "--- e"))) == ["  c", "  d", "- e", "+ --- e", "  f", "  g"]


def test_long_texts_are_bounded() -> None:
    before, now = "x\n" * MOST_SHOWN, "y\n" * MOST_SHOWN
    assert list(changed_lines(before, now))[MOST_SHOWN:] == [f"and {MOST_SHOWN} more lines"]

    before = "x\n" * (MOST_LINES + 1)
    assert list(changed_lines(before, before)) == []
    assert list(changed_lines(before, "y")) == ["they are too long to be compared here"]
