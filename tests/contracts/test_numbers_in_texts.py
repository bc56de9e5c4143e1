"""No text leaves it to its reader whether there is one thing or several."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXTS = [*ROOT.glob("graph/**/*.py"), *ROOT.glob("tools/**/*.py"), *ROOT.glob("graph/desk/pages/html/*.html")]


@pytest.mark.parametrize("folder", ["graph", "tools"])
def test_no_noun_ends_in_an_s_in_brackets(folder: str) -> None:
    found = [str(file) for file in TEXTS if file.is_relative_to(ROOT / folder) and "(s)" in file.read_text("utf-8")]

    assert TEXTS and found == []
