from pathlib import Path

import pytest

from tools.report.atomic_write import write_atomically


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"old and longer")

    write_atomically(tmp_path / "a.md", b"new")

    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("a.md", b"new")]


def test_a_write_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "a.md").mkdir()

    with pytest.raises(OSError):
        write_atomically(tmp_path / "a.md", b"new")

    assert [file.name for file in tmp_path.iterdir()] == ["a.md"]
