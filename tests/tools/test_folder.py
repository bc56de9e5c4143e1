from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner_executor.tools.errors import PathRefused
from planner_executor.tools.folder import Folder, matches


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    for name in ("logs/a.log", "logs/old/a.log", "logs/b[1].log", ".env", ".git/config", "out/report.log", "src/a.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    return Folder(tmp_path, without=(tmp_path / "out",))


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("logs/a.log", ["logs/a.log"]),
        ("**/a.log", ["logs/a.log", "logs/old/a.log"]),
        ("logs/*.log", ["logs/a.log", "logs/b[1].log"]),
        ("logs/b[1].log", ["logs/b[1].log"]),
        ("*.log", []),
        ("**", ["logs/a.log", "logs/b[1].log", "logs/old/a.log", "src/a.py"]),
    ],
)
def test_a_pattern_finds_what_is_not_hidden_and_not_left_out(folder: Folder, pattern: str, found: list[str]) -> None:
    assert folder.matching(pattern) == found


@pytest.mark.parametrize("path", ["../x.log", "/etc/passwd", ".env", ".git/config", "out/report.log", "**/../../x"])
def test_nothing_outside_and_nothing_hidden_is_given_out(folder: Folder, path: str) -> None:
    with pytest.raises(PathRefused):
        folder.matching(path)


def test_a_link_that_leads_out_is_not_found(folder: Folder, tmp_path: Path) -> None:
    (tmp_path / "logs" / "passwd.log").symlink_to("/etc/passwd")

    assert folder.matching("**/passwd.log") == []
    with pytest.raises(PathRefused):
        folder.file("logs/passwd.log")


@pytest.mark.parametrize(
    ("path", "here"),
    [
        ("/srv/shop/src/a.py", "src/a.py"),
        ("C:\\shop\\src\\a.py", "src/a.py"),
        ("src/a.py", "src/a.py"),
        ("/srv/shop/lib/a.py", None),
        ("../../.env", None),
        ("<string>", None),
        ("", None),
    ],
)
def test_a_path_from_another_machine_is_matched_by_its_end(folder: Folder, path: str, here: str | None) -> None:
    assert folder.named_like(path) == here


PARTS = st.lists(st.sampled_from(["a", "b", "logs", "app.log"]), min_size=1, max_size=6)


@settings(deadline=None)
@given(PARTS, st.sets(st.integers(0, 5)), st.integers(0, 6))
def test_a_path_fits_itself_with_any_of_its_parts_as_stars(path: list[str], starred: set[int], extra: int) -> None:
    pattern = ["*" if place in starred else part for place, part in enumerate(path)]
    pattern.insert(min(extra, len(pattern)), "**")

    assert matches(path, pattern)
    assert matches(["x", *path], ["**", *path])
    assert not matches(path, [*path, "more"])
