from pathlib import Path
from typing import Any

from planner_executor.tools.files.root import Root
from planner_executor.tools.search_files import search_files


def search(tmp_path: Path, **args: Any) -> dict[str, Any]:
    found: dict[str, Any] = search_files(Root(tmp_path, "workspace")).invoke(args)
    return found


def test_lines_are_found_in_any_case_with_their_place(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.txt").write_text("one\nTwo wörds\n")
    (tmp_path / "sub" / "b.txt").write_text("TWO WÖRDS again")

    assert search(tmp_path, text="two wörds") == {
        "matches": [
            {"path": "a.txt", "line": 2, "text": "Two wörds"},
            {"path": "sub/b.txt", "line": 1, "text": "TWO WÖRDS again"},
        ],
        "searched": 2,
        "skipped": [],
        "skipped_count": 0,
        "cut": False,
    }
    assert [m["path"] for m in search(tmp_path, text="two", pattern="*")["matches"]] == ["a.txt"]


def test_words_are_no_pattern(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a.c\nabc\n(a+)+$\n")

    assert [m["line"] for m in search(tmp_path, text="a.c")["matches"]] == [1]
    assert [m["line"] for m in search(tmp_path, text="(a+)+$")["matches"]] == [3]


def test_a_result_over_the_limit_is_cut_and_marked(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x\n" * 3)

    assert search(tmp_path, text="x", limit=2)["cut"] is True
    assert search(tmp_path, text="x", limit=3)["cut"] is False


def test_nothing_found_is_an_answer(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")

    assert search(tmp_path, text="y")["matches"] == []


def test_what_cannot_be_searched_is_named_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"x\0")
    (tmp_path / "runs.db").write_bytes(b"x")
    (tmp_path / "link.txt").symlink_to("/etc/passwd")

    found = search(tmp_path, text="x")

    assert [skipped["path"] for skipped in found["skipped"]] == ["a.bin", "runs.db"]
    assert (found["searched"], found["skipped_count"]) == (0, 2)


def test_of_a_long_line_the_part_with_the_words_is_shown(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a" * 5000 + "needle" + "b" * 5000)

    text = search(tmp_path, text="needle")["matches"][0]["text"]

    assert "needle" in text and len(text) == 502 and text[0] == text[-1] == "…"
