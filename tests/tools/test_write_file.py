from pathlib import Path
from typing import Any

import pytest

from planner_executor.tools.errors import FileNotWritten, NothingHappened
from planner_executor.tools.files.root import Root
from planner_executor.tools.write_file import write_file


def put(tmp_path: Path, **args: Any) -> dict[str, Any]:
    done: dict[str, Any] = write_file(Root(tmp_path, "workspace")).invoke(args)
    return done


def test_text_is_written_as_it_is(tmp_path: Path) -> None:
    done = put(tmp_path, path="sub/a.txt", content="één {x}\r\n")

    assert done == {"path": "sub/a.txt", "bytes": 11, "outcome": "created"}
    assert (tmp_path / "sub" / "a.txt").read_bytes() == "één {x}\r\n".encode()


@pytest.mark.parametrize(
    ("content", "text"),
    [({"a": [1, "é"]}, '{\n  "a": [\n    1,\n    "é"\n  ]\n}\n'), ([], "[]\n"), (True, "true\n"), (0.5, "0.5\n")],
)
def test_anything_else_is_written_as_json(tmp_path: Path, content: Any, text: str) -> None:
    put(tmp_path, path="a.json", content=content)

    assert (tmp_path / "a.json").read_text() == text


def test_the_same_call_twice_leaves_the_world_as_one_does(tmp_path: Path) -> None:
    outcomes = [put(tmp_path, path="a.txt", content="x", overwrite=o)["outcome"] for o in (False, False, True)]

    assert outcomes == ["created", "unchanged", "unchanged"]


def test_another_file_is_replaced_only_with_overwrite(tmp_path: Path) -> None:
    put(tmp_path, path="a.txt", content="old")

    with pytest.raises(FileNotWritten) as refusal:
        put(tmp_path, path="a.txt", content="new")

    assert "pass overwrite" in str(refusal.value) and isinstance(refusal.value, NothingHappened)
    assert put(tmp_path, path="a.txt", content="new", overwrite=True)["outcome"] == "replaced"


@pytest.mark.parametrize("content", ["\ud800", "x" * 10_000_001, {"a": "\ud800"}])
def test_content_that_cannot_be_stored_leaves_no_file(tmp_path: Path, content: Any) -> None:
    with pytest.raises(FileNotWritten):
        put(tmp_path, path="a.txt", content=content)

    assert list(tmp_path.iterdir()) == []


def preview(tmp_path: Path, **args: Any) -> str:
    shown: str = (write_file(Root(tmp_path, "workspace")).metadata or {})["preview"](**args)
    return shown


def test_a_preview_is_a_diff_and_makes_nothing(tmp_path: Path) -> None:
    assert preview(tmp_path / "new", path="sub/a.txt", content="x\n").endswith("\n+x")
    assert list(tmp_path.iterdir()) == []

    put(tmp_path, path="a.txt", content="old\n")

    assert preview(tmp_path, path="a.txt", content="new\n", overwrite=True).endswith("-old\n+new")
    assert (tmp_path / "a.txt").read_text() == "old\n"


@pytest.mark.parametrize("path", ["../a.txt", ".hidden", "a.db", "link.txt"])
def test_a_preview_reads_nothing_outside_of_the_workspace(tmp_path: Path, path: str) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "a.txt").write_text("secret")
    (tmp_path / "work" / "link.txt").symlink_to(tmp_path / "a.txt")

    with pytest.raises(NothingHappened):
        preview(tmp_path / "work", path=path, content="x", overwrite=True)


def test_a_preview_fails_as_the_call_would(tmp_path: Path) -> None:
    put(tmp_path, path="a.txt", content="old")

    with pytest.raises(FileNotWritten, match="pass overwrite"):
        preview(tmp_path, path="a.txt", content="new")
