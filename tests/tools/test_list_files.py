import os
from pathlib import Path

import pytest

from planner_executor.tools.errors import PathRefused
from planner_executor.tools.files.root import Root
from planner_executor.tools.list_files import list_files


def listed(tmp_path: Path, **args: object) -> dict[str, object]:
    found: dict[str, object] = list_files(Root(tmp_path, "workspace")).invoke(args)
    return found


def test_files_are_listed_with_size_and_moment(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.csv").write_text("a,b\n")
    os.utime(tmp_path / "data" / "a.csv", (1_790_000_000, 1_790_000_000))

    assert listed(tmp_path) == {
        "files": [{"path": "data/a.csv", "bytes": 4, "modified": "2026-09-21T14:13:20Z"}],
        "returned": 1,
        "cut": False,
    }


def test_a_pattern_selects_and_a_limit_cuts_and_marks(tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv", "c.txt"):
        (tmp_path / name).write_text("")

    assert [f["path"] for f in listed(tmp_path, pattern="*.csv")["files"]] == ["a.csv", "b.csv"]  # type: ignore[attr-defined]
    assert listed(tmp_path, pattern="*.csv", limit=1)["cut"] is True
    assert listed(tmp_path, pattern="*.csv", limit=2)["cut"] is False


def test_a_workspace_that_is_not_there_yet_is_empty(tmp_path: Path) -> None:
    assert listed(tmp_path / "later") == {"files": [], "returned": 0, "cut": False}


def test_a_pattern_does_not_lead_out(tmp_path: Path) -> None:
    with pytest.raises(PathRefused):
        listed(tmp_path, pattern="../**")
