from pathlib import Path
from typing import Any

import pytest

from planner_executor.tools.errors import FileNotReadable, NoSuchFile
from planner_executor.tools.files.root import Root
from planner_executor.tools.read_file import LARGEST_BYTES, read_file


def read(tmp_path: Path, path: str, **args: Any) -> dict[str, Any]:
    found: dict[str, Any] = read_file(Root(tmp_path, "workspace")).invoke({"path": path, **args})
    return found


def test_a_file_is_read_whole(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("één\r\ntwee\n".encode())

    assert read(tmp_path, "a.txt") == {
        "path": "a.txt",
        "encoding": "utf-8",
        "line": 1,
        "end_line": 2,
        "total_lines": 2,
        "next_line": None,
        "cut": False,
        "text": "één\ntwee",
    }


def test_a_part_has_the_start_of_the_next_one(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("1\n2\n3\n")

    part = read(tmp_path, "a.txt", start_line=2, max_lines=1)

    assert (part["text"], part["end_line"], part["next_line"], part["cut"]) == ("2", 2, 3, True)


def test_many_characters_are_cut_between_lines_and_a_huge_line_within(tmp_path: Path) -> None:
    (tmp_path / "lines.txt").write_text(("x" * 999 + "\n") * 300)
    (tmp_path / "line.txt").write_text("x" * 300_000)

    lines, line = read(tmp_path, "lines.txt"), read(tmp_path, "line.txt")

    assert (lines["end_line"], lines["next_line"], lines["cut"], len(lines["text"])) == (200, 201, True, 199_999)
    assert (line["end_line"], line["next_line"], line["cut"], len(line["text"])) == (1, None, True, 200_000)


def test_a_binary_or_large_file_or_a_line_past_the_end_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"\0\1")
    (tmp_path / "a.txt").write_text("1\n")
    with (tmp_path / "huge.txt").open("wb") as stream:
        stream.truncate(LARGEST_BYTES + 1)

    for path, args in (("a.bin", {}), ("a.txt", {"start_line": 2}), ("huge.txt", {})):
        with pytest.raises(FileNotReadable) as failure:
            read(tmp_path, path, **args)
        assert failure.value.path == path
    with pytest.raises(NoSuchFile):
        read(tmp_path, "b.txt")


def test_an_empty_file_has_no_lines_and_an_empty_text(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("")

    assert (read(tmp_path, "a.txt")["text"], read(tmp_path, "a.txt")["total_lines"]) == ("", 0)
