import re

from hypothesis import given, settings
from hypothesis import strategies as st

from planner_executor.tools.mcp.names import plan_names

NAMES = st.text(min_size=1, max_size=70)


def test_a_name_that_is_alone_stays_as_it_is() -> None:
    assert plan_names({"a": ["read-file"], "b": ["move"]}) == {("a", "read-file"): "read-file", ("b", "move"): "move"}


def test_letters_that_a_model_provider_would_refuse_are_replaced() -> None:
    assert plan_names({"my files": ["fs.read/all"], "b": ["fs_read_all"]}) == {
        ("my files", "fs.read/all"): "my_files_fs_read_all",
        ("b", "fs_read_all"): "b_fs_read_all",
    }


def test_of_two_that_cannot_be_told_apart_the_first_stays() -> None:
    assert plan_names({"a": ["x.y", "x/y"]}) == {("a", "x.y"): "a_x_y"}


@settings(max_examples=50)
@given(st.dictionaries(NAMES, st.lists(NAMES, unique=True, max_size=4), max_size=4), st.sets(NAMES, max_size=3))
def test_each_name_is_given_once_and_every_provider_takes_it(tools: dict[str, list[str]], taken: set[str]) -> None:
    given = list(plan_names(tools, taken).values())

    assert len(set(given)) == len(given) and not set(given) & taken
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) for name in given)
