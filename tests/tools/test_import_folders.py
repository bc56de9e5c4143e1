"""No tool writes what this Python could load as code."""

import sys
from pathlib import Path

import pytest

from planner_executor.tools.errors import FileNotWritten
from planner_executor.tools.files.root import Root
from planner_executor.tools.files.writing import move, write

CODE = ["json.py", "json.PY", "json/__init__.py", "deep/er/mod.pyc", "fast.so", "site.pth"]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder from which Python imports."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.setattr(sys, "path", [*sys.path, str(folder)])
    return folder


@pytest.mark.parametrize("path", CODE)
def test_below_a_folder_of_the_import_path_no_module_is_written_nor_moved_there(project: Path, path: str) -> None:
    root = Root(project / "workspace", "workspace")
    write(root, "draft.txt", b"x", overwrite=False)

    with pytest.raises(FileNotWritten, match=f"Python imports from {project}"):
        write(root, path, b"x", overwrite=True)
    with pytest.raises(FileNotWritten, match="could become code"):
        move(root, "draft.txt", path)

    assert [file.name for file in root.path.rglob("*")] == ["draft.txt"]


@pytest.mark.parametrize("path", ["report.md", "data/table.csv", "py", "notes.py.txt"])
def test_a_workspace_beside_a_script_takes_all_other_files(project: Path, path: str) -> None:
    assert write(Root(project / "workspace", "workspace"), path, b"x", overwrite=False) == "created"


def test_where_python_imports_nothing_a_script_is_a_file_as_any_other(tmp_path: Path) -> None:
    assert write(Root(tmp_path / "workspace", "workspace"), "hello.py", b"x", overwrite=False) == "created"


@pytest.mark.parametrize("root", ["project", "project/..", "link"])
def test_a_folder_of_the_import_path_itself_takes_no_file_at_all(project: Path, root: str) -> None:
    (project.parent / "link").symlink_to(project)
    path = "project/notes.txt" if root == "project/.." else "notes.txt"

    with pytest.raises(FileNotWritten, match="Python imports from"):
        write(Root(project.parent / root, "workspace"), path, b"x", overwrite=False)


def test_an_empty_entry_is_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", *sys.path])

    with pytest.raises(FileNotWritten, match="could become code"):
        write(Root(tmp_path / "workspace", "workspace"), "json.py", b"x", overwrite=False)


def test_nothing_is_written_into_the_installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "venv"))

    with pytest.raises(FileNotWritten, match="where Python is installed"):
        write(Root(tmp_path / "venv" / "share", "workspace"), "notes.txt", b"x", overwrite=False)
