import os
from pathlib import Path

import pytest

from planner_executor.tools.errors import FileNotWritten, NoSuchFile, PathRefused
from planner_executor.tools.files.root import Root
from planner_executor.tools.files.writing import move, write


@pytest.fixture
def root(tmp_path: Path) -> Root:
    return Root(tmp_path / "work", "workspace")


def files(root: Root) -> dict[str, bytes]:
    """Return everything in the folder, hidden or not."""
    return {
        file.relative_to(root.path).as_posix(): file.read_bytes() for file in root.path.rglob("*") if file.is_file()
    }


def test_a_file_is_created_with_the_folders_it_needs(root: Root) -> None:
    assert write(root, "a/b/c.txt", b"new", overwrite=False) == "created"
    assert files(root) == {"a/b/c.txt": b"new"}


def test_the_same_content_again_changes_nothing(root: Root) -> None:
    write(root, "a.txt", b"new", overwrite=False)
    before = (root.path / "a.txt").stat()

    assert write(root, "a.txt", b"new", overwrite=False) == "unchanged"
    after = (root.path / "a.txt").stat()
    assert (after.st_ino, after.st_mtime_ns, after.st_ctime_ns) == (
        before.st_ino,
        before.st_mtime_ns,
        before.st_ctime_ns,
    )


def test_other_content_is_replaced_only_when_asked_for_and_keeps_its_mode(root: Root) -> None:
    write(root, "a.txt", b"old and longer", overwrite=False)
    (root.path / "a.txt").chmod(0o600)

    with pytest.raises(FileNotWritten):
        write(root, "a.txt", b"new", overwrite=False)
    assert files(root) == {"a.txt": b"old and longer"}

    assert write(root, "a.txt", b"new", overwrite=True) == "replaced"
    assert files(root) == {"a.txt": b"new"}
    assert (root.path / "a.txt").stat().st_mode & 0o777 == 0o600


def test_who_reads_while_a_file_is_replaced_sees_the_old_one_whole(root: Root) -> None:
    write(root, "a.txt", b"old", overwrite=False)
    with (root.path / "a.txt").open("rb") as reader:
        write(root, "a.txt", b"new and longer", overwrite=True)

        assert reader.read() == b"old"


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(root: Root) -> None:
    write(root, "a.txt", b"old", overwrite=False)

    with pytest.raises(TypeError):
        write(root, "a.txt", "no bytes", overwrite=True)  # type: ignore[arg-type]

    assert files(root) == {"a.txt": b"old"}


@pytest.mark.parametrize(
    ("name", "twin"), [("report.md", "REPORT.md"), ("report.md", "Report.MD"), ("re\u0301port.md", "r\u00e9port.md")]
)
def test_a_name_that_differs_only_in_case_or_form_is_refused(root: Root, name: str, twin: str) -> None:
    write(root, name, b"old", overwrite=False)

    with pytest.raises(FileNotWritten):
        write(root, twin, b"new", overwrite=True)
    with pytest.raises(FileNotWritten):
        move(root, name, twin)
    assert files(root) == {name: b"old"}


@pytest.mark.parametrize("name", ["runs.db", "a.sqlite", "a.db-wal"])
def test_databases_are_neither_written_nor_moved(root: Root, name: str) -> None:
    write(root, "a.txt", b"x", overwrite=False)
    (root.path / name).write_bytes(b"SQLite format 3\0")

    for attempt in (
        lambda: write(root, name, b"x", overwrite=True),
        lambda: move(root, name, "b.txt"),
        lambda: move(root, "a.txt", name),
    ):
        with pytest.raises(FileNotWritten):
            attempt()
    assert files(root) == {"a.txt": b"x", name: b"SQLite format 3\0"}


def test_a_file_is_moved_with_the_folders_it_needs(root: Root) -> None:
    write(root, "a.txt", b"x", overwrite=False)

    move(root, "a.txt", "b/c.txt")

    assert files(root) == {"b/c.txt": b"x"}


def test_nothing_is_replaced_by_a_move(root: Root) -> None:
    write(root, "a.txt", b"a", overwrite=False)
    write(root, "b.txt", b"b", overwrite=False)
    (root.path / "folder").mkdir()

    for to in ("b.txt", "folder", "a.txt", "./a.txt", "A.TXT"):
        with pytest.raises(FileNotWritten):
            move(root, "a.txt", to)
    assert files(root) == {"a.txt": b"a", "b.txt": b"b"}


def test_a_move_broken_off_between_its_two_halves_is_finished(root: Root) -> None:
    write(root, "a.txt", b"x", overwrite=False)
    os.link(root.path / "a.txt", root.path / "b.txt")

    move(root, "a.txt", "b.txt")

    assert files(root) == {"b.txt": b"x"}


def test_a_second_move_finds_nothing_to_move(root: Root) -> None:
    write(root, "a.txt", b"x", overwrite=False)
    move(root, "a.txt", "b.txt")

    with pytest.raises(NoSuchFile):
        move(root, "a.txt", "b.txt")


@pytest.mark.parametrize(("path", "to"), [("../x", "b"), ("a.txt", "../x"), ("a.txt", ".git/hooks/x"), ("link", "b")])
def test_a_move_stays_inside(root: Root, path: str, to: str) -> None:
    write(root, "a.txt", b"x", overwrite=False)
    (root.path.parent / "x").write_bytes(b"outside")
    (root.path / "link").symlink_to("../x")

    with pytest.raises(PathRefused):
        move(root, path, to)
    assert (root.path / "a.txt").read_bytes() == b"x"
    assert (root.path.parent / "x").read_bytes() == b"outside"


def test_a_file_in_place_of_a_folder_is_an_error(root: Root) -> None:
    write(root, "a", b"x", overwrite=False)

    with pytest.raises(FileNotWritten) as failure:
        write(root, "a/b.txt", b"x", overwrite=False)

    assert failure.value.path == "a/b.txt"
