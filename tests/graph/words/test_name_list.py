"""Names in a sentence."""

import pytest

from planner_executor.graph.words.name_list import listed


@pytest.mark.parametrize(("count", "words"), [(0, ""), (1, "0"), (3, "0, 1, 2"), (4, "0, 1, 2 and 1 more")])
def test_a_long_list_is_cut(count: int, words: str) -> None:
    assert listed([str(number) for number in range(count)], most=3) == words
