"""Names in a sentence."""

import pytest

from planner_executor.graph.words.name_list import LONGEST_NAME, did_you_mean, enumerated, listed, right_name


@pytest.mark.parametrize(("count", "words"), [(0, ""), (1, "0"), (3, "0, 1, 2"), (4, "0, 1, 2 and 1 more")])
def test_a_long_list_is_cut(count: int, words: str) -> None:
    assert listed([str(number) for number in range(count)], most=3) == words


def test_eight_names_are_listed_whole() -> None:
    assert listed(["a"] * 8) == ", ".join("a" * 8) and listed(["a"] * 9).endswith(", a and 1 more")


@pytest.mark.parametrize(("names", "words"), [("a", "a"), ("ab", "a and b"), ("abc", "a, b and c")])
def test_the_last_name_follows_a_word(names: str, words: str) -> None:
    assert enumerated(list(names)) == words and enumerated(list(names), "or") == words.replace("and", "or")


@pytest.mark.parametrize(
    ("name", "known", "right"),
    [
        ("serch", ["search", "write"], "did you mean search?"),
        ("stop", ["search", "write"], "use one of search, write"),
        ("x" * 100, ["x" * 99 + "y"], f"did you mean {'x' * 99}y?"),
        ("x" * 101, ["x" * 100], f"use one of {'x' * 100}"),
        ("x" * 100, ["x" * 101], f"use one of {'x' * 101}"),
    ],
)
def test_an_unknown_name_has_the_closest_one_or_all(name: str, known: list[str], right: str) -> None:
    assert LONGEST_NAME == 100 and right_name(name, known) == right
    assert did_you_mean(name, known) == (right if right.startswith("did") else "")
