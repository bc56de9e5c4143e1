import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner_executor.tools.errors import FileNotReadable, FileNotWritten, NoSuchFile, PathRefused
from planner_executor.tools.files.root import Place, Root
from planner_executor.tools.files.writing import write

SECRET = b"outside"


@pytest.fixture
def root(tmp_path: Path) -> Root:
    """A workspace with a file and a folder, and beside it a folder that holds a secret."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.txt").write_bytes(SECRET)
    (tmp_path / "folder" / "sub").mkdir(parents=True)
    (tmp_path / "folder" / "a.txt").write_bytes(b"inside")
    (tmp_path / "folder" / "sub" / "a.txt").write_bytes(b"inside too")
    return Root(tmp_path / "folder", "workspace")


def content(root: Root, path: str) -> bytes:
    with root.open(path) as stream:
        return stream.read()


def test_a_file_is_read_and_a_path_may_be_spelled_loosely(root: Root) -> None:
    assert content(root, "a.txt") == b"inside"
    assert content(root, "./sub//a.txt") == b"inside too"


@pytest.mark.parametrize(
    "path",
    [
        "../outside/a.txt", "sub/../../outside/a.txt", "sub/../a.txt", "..", ".", "/", "", " ", "/etc/passwd",
        "//etc/passwd", "C:/a.txt", "C:a.txt", "..\\a.txt", "sub\\..\\..\\a.txt", "a\0.txt", "a\n.txt", "\ud800",
        "..\u200b/a.txt", ".g\u200cit/config", "x" * 300, "/".join(["x"] * 600), ".env", ".git/config", "sub/.ssh/id",
        "node_modules/a.js", "Node_Modules/a.js", "__PYCACHE__/a.pyc",
    ],
)  # fmt: skip
def test_a_path_that_leads_out_is_hidden_or_names_no_file_is_refused(root: Root, path: str) -> None:
    with pytest.raises(PathRefused) as refusal:
        content(root, path)

    assert refusal.value.path == path


@pytest.mark.parametrize("target", ["../outside", "/etc", ".", "sub", "..", "nowhere", "link"])
def test_a_folder_that_is_a_link_is_refused_wherever_it_leads(root: Root, target: str) -> None:
    (root.path / "link").symlink_to(target)

    with pytest.raises(PathRefused):
        content(root, "link/a.txt")
    with pytest.raises(PathRefused):
        write(root, "link/b.txt", b"x", overwrite=True)
    assert not (root.path.parent / "outside" / "b.txt").exists()


@pytest.mark.parametrize("target", ["../outside/a.txt", "/etc/passwd", "a.txt", "nowhere.txt", "link.txt"])
def test_a_file_that_is_a_link_is_refused_wherever_it_leads(root: Root, target: str) -> None:
    (root.path / "link.txt").symlink_to(target)

    with pytest.raises(PathRefused):
        content(root, "link.txt")
    with pytest.raises(PathRefused):
        write(root, "link.txt", b"x", overwrite=True)
    assert (root.path.parent / "outside" / "a.txt").read_bytes() == SECRET


def test_a_hard_link_may_be_a_file_from_elsewhere_and_is_refused(root: Root) -> None:
    os.link(root.path.parent / "outside" / "a.txt", root.path / "hard.txt")

    with pytest.raises(PathRefused):
        content(root, "hard.txt")
    with pytest.raises(PathRefused):
        write(root, "hard.txt", b"x", overwrite=True)
    assert (root.path.parent / "outside" / "a.txt").read_bytes() == SECRET


def test_pipes_sockets_and_folders_are_refused_at_once(root: Root) -> None:
    os.mkfifo(root.path / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(root.path / "sock"))

        for path in ("pipe", "sock", "sub"):
            with pytest.raises(PathRefused):
                content(root, path)
            with pytest.raises(PathRefused):
                write(root, path, b"x", overwrite=True)


def test_a_device_is_refused(root: Root) -> None:
    try:
        os.mknod(root.path / "null", 0o20666, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("only root may make a device")

    with pytest.raises(PathRefused):
        content(root, "null")


@pytest.mark.parametrize("name", ["runs.db", "runs.db-wal", "x.sqlite3", "X.SQLITE", "a.db-journal"])
def test_a_database_is_opened_by_nothing_but_sqlite(root: Root, name: str) -> None:
    (root.path / name).write_bytes(b"SQLite format 3\0")

    with pytest.raises(FileNotReadable):
        content(root, name)


def test_a_missing_file_is_answered_with_names_like_it(root: Root) -> None:
    with pytest.raises(NoSuchFile) as missing:
        content(root, "sub/b.txt")

    assert missing.value.similar == ("sub/a.txt",)


def test_a_folder_that_is_not_there_yet_holds_nothing(tmp_path: Path) -> None:
    root = Root(tmp_path / "later", "workspace")

    assert list(root.files()) == [] and not root.has("a.txt")
    with pytest.raises(NoSuchFile):
        content(root, "a.txt")


def test_the_folder_itself_may_be_a_link(root: Root, tmp_path: Path) -> None:
    (tmp_path / "way").symlink_to(root.path)

    assert content(Root(tmp_path / "way", "workspace"), "a.txt") == b"inside"


def test_hidden_files_links_and_pipes_are_not_listed(root: Root) -> None:
    (root.path / ".env").write_text("KEY=x")
    (root.path / "link.txt").symlink_to("../outside/a.txt")
    (root.path / "out").symlink_to("../outside")
    os.mkfifo(root.path / "pipe")

    assert [found.path for found in root.files()] == ["a.txt", "sub/a.txt"]
    assert [found.path for found in root.files("sub/*")] == ["sub/a.txt"]
    with pytest.raises(PathRefused):
        list(root.files("../**"))


def test_very_deep_folders_are_not_followed_to_the_end(root: Root) -> None:
    here = root.path
    for _ in range(60):
        here = here / "d"
        here.mkdir()
    (here / "deep.txt").write_text("x")

    assert [found.path for found in root.files("**/*.txt")] == ["a.txt", "sub/a.txt"]


class Exchanging(Root):
    """A root whose file is exchanged right after it was found to be all right."""

    def __init__(self, path: Path, exchange: str) -> None:
        super().__init__(path, "workspace")
        self.exchange = exchange

    def check_own(self, place: Place) -> None:
        super().check_own(place)
        file = self.path / place.path
        file.unlink()
        if self.exchange == "link":
            file.symlink_to(self.path.parent / "outside" / "a.txt")
        elif self.exchange == "hard link":
            os.link(self.path.parent / "outside" / "a.txt", file)
        elif self.exchange == "pipe":
            os.mkfifo(file)


@pytest.mark.parametrize("exchange", ["link", "hard link", "pipe", "nothing"])
def test_a_file_exchanged_between_the_look_and_the_opening_is_not_read(root: Root, exchange: str) -> None:
    with pytest.raises((PathRefused, FileNotReadable, NoSuchFile)):
        content(Exchanging(root.path, exchange), "a.txt")


def test_a_folder_exchanged_for_a_link_while_it_is_held_leads_nowhere_else(root: Root) -> None:
    with root.place("sub/new.txt") as place:
        (root.path / "sub").rename(root.path / "was")
        (root.path / "sub").symlink_to(root.path.parent / "outside")
        os.close(os.open(place.name, os.O_WRONLY | os.O_CREAT, dir_fd=place.folder))

    assert (root.path / "was" / "new.txt").exists()
    assert [file.name for file in (root.path.parent / "outside").iterdir()] == ["a.txt"]


EXCHANGE = """
import ctypes, os, sys
os.chdir(sys.argv[1])
system = ctypes.CDLL(None)
while True:
    if sys.platform == "darwin":
        system.renamex_np(b"sub", b"trap", 2)
    else:
        system.renameat2(-100, b"sub", -100, b"trap", 2)
"""


@pytest.fixture
def flicker(root: Root) -> Iterator[Root]:
    """A root in which `sub` is a folder at one moment and a link out of the workspace at the next."""
    (root.path / "trap").symlink_to(root.path.parent / "outside")
    with subprocess.Popen([sys.executable, "-I", "-c", EXCHANGE, str(root.path)]) as exchanging:
        yield root
        exchanging.kill()


def test_in_a_race_nothing_outside_is_read_or_written(flicker: Root) -> None:
    outside = flicker.path.parent / "outside"
    read: set[bytes] = set()
    refused = 0
    for count in range(50_000):
        try:
            read.add(content(flicker, "sub/a.txt"))
            write(flicker, f"sub/{count % 5}.txt", b"x", overwrite=True)
        except PathRefused:
            refused += 1
        except (FileNotReadable, FileNotWritten):
            continue
        if read and refused > 200:
            break

    assert read == {b"inside too"} and refused > 200
    assert [(file.name, file.read_bytes()) for file in outside.iterdir()] == [("a.txt", SECRET)]


PARTS = st.sampled_from(
    ["a.txt", "..", ".", "", "sub", "out", "self", "loop", "hard.txt", "~", "new", "b.txt", "\\..", "%2e%2e", "A.TXT"]
)


@settings(deadline=None, max_examples=300)
@given(path=st.lists(PARTS, max_size=6).map("/".join), lead=st.sampled_from(["", "/", "./", "../folder/"]))
def test_no_path_reads_or_writes_anything_outside(root: Root, path: str, lead: str) -> None:
    outside = root.path.parent / "outside"
    if not (root.path / "out").is_symlink():
        (root.path / "out").symlink_to(outside)
        (root.path / "self").symlink_to(root.path)
        (root.path / "loop").symlink_to("loop")
        os.link(outside / "a.txt", root.path / "hard.txt")

    with suppress(PathRefused, FileNotReadable, NoSuchFile):
        assert content(root, lead + path) != SECRET
    with suppress(Exception):
        write(root, lead + path, b"new", overwrite=True)

    assert [(file.name, file.read_bytes()) for file in outside.iterdir()] == [("a.txt", SECRET)]
    assert sorted(file.name for file in root.path.parent.iterdir()) == ["folder", "outside"]
