"""No text leaves it to its reader whether there is one thing or several."""

from pathlib import Path
from typing import Any

import pytest

from planner_executor.graph.words.name_list import counted
from planner_executor.tools.numbers_in_words import counted as of_tools

ROOT = Path(__file__).parents[2]
TEXTS = [*ROOT.glob("graph/**/*.py"), *ROOT.glob("tools/**/*.py"), *ROOT.glob("graph/desk/pages/html/*.html")]


@pytest.mark.parametrize("folder", ["graph", "tools"])
def test_no_noun_ends_in_an_s_in_brackets(folder: str) -> None:
    found = [str(file) for file in TEXTS if file.is_relative_to(ROOT / folder) and "(s)" in file.read_text("utf-8")]

    assert TEXTS and found == []


@pytest.mark.parametrize("words", [(0, "step"), (1, "step"), (2, "step"), (2, "file was", "files were")], ids=str)
def test_the_tools_count_in_the_words_of_the_graph_which_they_do_not_import(words: Any) -> None:
    assert of_tools(*words) == counted(*words)
