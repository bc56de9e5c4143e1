import os
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner_executor.tools.confinement import inside
from planner_executor.tools.errors import PathRefused

PARTS = st.sampled_from(["a", "..", ".", "", "out", "in", "~", "C:", "b.md", "\\..", "\0", "\ud800", "x" * 300])


@pytest.mark.parametrize(
    "path",
    [
        "../a.md",
        "a/../../b.md",
        "a/../b.md",
        "/etc/passwd",
        "",
        "  ",
        ".",
        "a\0.md",
        "..\\a.md",
        "C:\\a.md",
        "C:a.md",
        "\ud800.md",
    ],
)
def test_a_path_that_leads_out_or_names_no_file_is_refused(path: str, tmp_path: Path) -> None:
    with pytest.raises(PathRefused) as refusal:
        inside(tmp_path, path)

    assert refusal.value.path == path


def test_a_link_out_of_the_folder_is_refused_even_if_its_target_is_missing(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "link").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(PathRefused):
        inside(tmp_path / "folder", "link/a.md")


def test_links_in_a_circle_are_refused_or_stay_inside(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")

    with suppress(PathRefused):
        assert inside(tmp_path, "a/c.md").is_relative_to(tmp_path.resolve())


def test_a_link_within_the_folder_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")

    assert inside(tmp_path, "link/a.md") == (tmp_path / "real" / "a.md").resolve()


@settings(deadline=None)
@given(st.lists(PARTS, max_size=6).map("/".join))
def test_no_path_escapes(tmp_path: Path, path: str) -> None:
    folder = tmp_path / "folder"
    folder.mkdir(exist_ok=True)
    if not (folder / "out").is_symlink():
        (folder / "out").symlink_to(tmp_path)
        (folder / "in").symlink_to(folder)

    try:
        found = inside(folder, path)
    except PathRefused:
        return
    assert os.path.realpath(found).startswith(os.path.realpath(folder) + os.sep)
