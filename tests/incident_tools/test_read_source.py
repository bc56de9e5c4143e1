from pathlib import Path
from typing import Any

import pytest

from planner_executor.incident_tools.read_source import read_source
from planner_executor.tools.errors import PathRefused, SourceNotReadable
from planner_executor.tools.folder import Folder


def read(folder: Path, path: str = "a.py", **args: Any) -> dict[str, Any]:
    result: dict[str, Any] = read_source(Folder(folder)).invoke({"path": path, **args})
    return result


def test_the_line_is_quoted_and_marked_among_those_around_it(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("".join(f"line_{number}()\n" for number in range(1, 13)))

    assert read(tmp_path, line=10, around=1) == {
        "source": "a.py",
        "line": 10,
        "statement": "line_10()",
        "first_line": 9,
        "end_line": 11,
        "total_lines": 12,
        "numbered": "   9  line_9()\n> 10  line_10()\n  11  line_11()",
    }


def test_at_the_ends_of_a_file_there_is_less_around(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("one\r\ntwo")

    assert read(tmp_path, line=2)["numbered"] == "  1  one\n> 2  two"


@pytest.mark.parametrize(
    ("path", "line"), [("a.py", 3), ("missing.py", 1), ("notes.md", 1), ("a.bin", 1), ("nul.py", 1), ("folder.py", 1)]
)
def test_a_missing_line_or_source_is_an_error(tmp_path: Path, path: str, line: int) -> None:
    (tmp_path / "a.py").write_text("one\ntwo\n")
    (tmp_path / "notes.md").write_text("words")
    (tmp_path / "nul.py").write_bytes(b"\0")
    (tmp_path / "folder.py").mkdir()

    with pytest.raises(SourceNotReadable) as error:
        read(tmp_path, path, line=line)
    assert error.value.source == path


@pytest.mark.parametrize("path", ["../a.py", "/etc/a.py", ".secret/a.py", "link.py"])
def test_nothing_outside_the_folder_is_read(tmp_path: Path, path: str) -> None:
    (tmp_path / "a.py").write_text("secret")
    (tmp_path / "docs" / ".secret").mkdir(parents=True)
    (tmp_path / "docs" / "link.py").symlink_to(tmp_path / "a.py")

    with pytest.raises(PathRefused):
        read(tmp_path / "docs", path)
