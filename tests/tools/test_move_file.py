from pathlib import Path

import pytest

from planner_executor.tools.errors import FileNotWritten, NoSuchFile, NothingHappened
from planner_executor.tools.files.root import Root
from planner_executor.tools.move_file import move_file


def test_a_file_is_moved(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")

    done = move_file(Root(tmp_path, "workspace")).invoke({"path": "a.txt", "to": "sub/b.txt"})

    assert done == {"path": "sub/b.txt", "moved_from": "a.txt"}
    assert [file.name for file in tmp_path.rglob("*.txt")] == ["b.txt"]


def test_every_refusal_means_that_nothing_happened(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    (tmp_path / "b.txt").write_text("y")

    for path, to, kind in (("a.txt", "b.txt", FileNotWritten), ("c.txt", "d.txt", NoSuchFile)):
        with pytest.raises(kind) as refusal:
            move_file(Root(tmp_path, "workspace")).invoke({"path": path, "to": to})
        assert isinstance(refusal.value, NothingHappened)
    assert (tmp_path / "b.txt").read_text() == "y"


def test_it_is_not_declared_idempotent(tmp_path: Path) -> None:
    assert (move_file(Root(tmp_path, "workspace")).metadata or {})["idempotent"] is False


def test_a_preview_names_both_paths_and_moves_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    preview = (move_file(Root(tmp_path, "workspace")).metadata or {})["preview"]

    assert preview(path="a.txt", to="sub/b.txt") == "rename a.txt\n    to sub/b.txt\n1 byte, unchanged"
    assert [file.name for file in tmp_path.iterdir()] == ["a.txt"]
    for path, to in (("a.txt", "a.txt"), ("c.txt", "d.txt"), ("a.txt", "../b.txt")):
        with pytest.raises(NothingHappened):
            preview(path=path, to=to)
