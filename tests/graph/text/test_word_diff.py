"""Two texts side by side, word by word."""

from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.text.word_diff import word_diff

TEXTS = st.lists(st.sampled_from(["pay ", "12", " EUR", "\n", "<b>", "\u202e", "x" * 50]), max_size=120).map("".join)


@given(TEXTS, TEXTS)
def test_pieces_put_together_are_the_texts_and_what_is_not_changed_is_the_same_in_both(was: str, now: str) -> None:
    before, after = word_diff(was, now)

    assert "".join(one.text for one in before) == was and "".join(one.text for one in after) == now
    kept = ["".join(one.text for one in side if one.kind != "changed") for side in (before, after)]
    assert kept[0] == kept[1]


def test_a_word_that_differs_in_a_long_text_stands_alone_and_what_is_far_from_it_is_folded() -> None:
    words = " ".join(f"w{number}" for number in range(300))

    before, after = word_diff(words, words.replace("w150", "other"))

    assert [one.text for one in before if one.kind == "changed"] == ["w150"]
    assert [one.kind for one in after] == ["folded", "same", "changed", "same", "folded"]
    assert [one.kind for one in word_diff("a " * 900, "b " * 900)[0]] == ["changed", "same"]
