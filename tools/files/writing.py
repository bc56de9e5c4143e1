"""Writing and moving within one folder: a file is there whole or not at all, and none is replaced unasked."""

import errno
import os
import stat
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Literal
from uuid import uuid4

from planner_executor.tools.errors import FileNotWritten, NoSuchFile
from planner_executor.tools.files.difference import difference
from planner_executor.tools.files.root import Place, Root, is_database
from planner_executor.tools.import_folders import code_fault

Outcome = Literal["created", "replaced", "unchanged"]
EXISTS = "it exists with other content; pass overwrite or choose another path"
TAKEN = "something is there already; move that first or choose another path"

_NO_HARD_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)


def write(root: Root, path: str, content: bytes, *, overwrite: bool) -> Outcome:
    """Write a file whole; the folders it needs are made.

    Args:
        root: The folder that the path is in.
        path: Relative, with forward slashes.
        content: All of the file.
        overwrite: Whether a file with other content may be replaced.

    Raises:
        PathRefused: The path leads out of the folder, or names something that is no file of its own.
        FileNotWritten: Another file is there and may not be replaced, or the system refused.
    """
    _check_kind(root, path)
    with written(path), root.place(path, make=True) as place:
        there = place.look()
        if there is None:
            _check_case(place)
            _put(place, content, None)
            return "created"
        root.check_own(place)
        if _holds(place, there, content):
            return "unchanged"
        if not overwrite:
            raise FileNotWritten(path, EXISTS)
        # Without set-user-id and the like: nobody has given what a tool writes another person's rights.
        _put(place, content, stat.S_IMODE(there.st_mode) & 0o777)
        return "replaced"


@contextmanager
def written(path: str) -> Iterator[None]:
    """Say that this path was not written if the system refuses within the block.

    Raises:
        FileNotWritten: It refused.
    """
    try:
        yield
    except OSError as error:
        raise FileNotWritten(path, error.strerror or type(error).__name__) from error


def write_preview(root: Root, path: str, content: bytes, *, overwrite: bool) -> str:
    """Return what `write` would change, as a unified diff if it is text; nothing is made.

    Raises:
        PathRefused, FileNotWritten: As `write`, as far as it can be told before.
    """
    _check_kind(root, path)
    try:
        with root.place(path) as place:
            if place.look() is None:
                _check_case(place)
            else:
                root.check_own(place)
    except (NoSuchFile, FileNotFoundError):
        return difference(path, None, content)
    except OSError as error:
        raise FileNotWritten(path, error.strerror or type(error).__name__) from error
    before = _content(root, path)
    if before is not None and before != content and not overwrite:
        raise FileNotWritten(path, EXISTS)
    return difference(path, before, content)


def _content(root: Root, path: str) -> bytes | None:
    """Return what a file holds, None if there is none."""
    try:
        with root.open(path) as stream:
            return stream.read()
    except NoSuchFile:
        return None


def move_preview(root: Root, path: str, to: str) -> str:
    """Return what `move` would do; nothing is moved.

    Raises:
        PathRefused, NoSuchFile, FileNotWritten: As `move`, as far as it can be told before.
    """
    _check_kind(root, path)
    _check_kind(root, to)
    with written(to):
        with root.place(path) as source:
            if (found := source.look()) is None:
                raise root.missing(path)
            root.check_own(source)
        if root.has(to):
            raise FileNotWritten(to, TAKEN)
    size = "1 byte" if found.st_size == 1 else f"{found.st_size:,} bytes"
    return f"rename {path}\n    to {to}\n{size}, unchanged"


def move(root: Root, path: str, to: str) -> None:
    """Give a file another path; none is replaced. A move that was broken off half way is finished.

    Raises:
        PathRefused: A path leads out of the folder, or does not name a file of its own.
        NoSuchFile: There is nothing to move.
        FileNotWritten: Something is at the other path, or the system refused.
    """
    _check_kind(root, path)
    _check_kind(root, to)
    with written(to), root.place(path) as source, root.place(to, make=True) as target:
        old, new = source.look(), target.look()
        if old is None:
            raise root.missing(path)
        if _is_same_place(source, target):
            raise FileNotWritten(to, "it is the same place, upper and lower case aside; choose another path")
        if new is None:
            root.check_own(source)
            _check_case(target)
            _carry(source, target)
        # One file under both names: an earlier move was broken off between `os.link` and `os.unlink`.
        elif old.st_nlink == 2 and os.path.samestat(old, new):
            os.unlink(source.name, dir_fd=source.folder)
        else:
            raise FileNotWritten(to, TAKEN)
        _sync(target.folder)


def _put(place: Place, content: bytes, replaced_mode: int | None) -> None:
    """Write beside the place, then exchange in one step; `replaced_mode` is that of the file that goes."""
    fresh = Place(place.path, place.folder, f".{uuid4().hex}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with os.fdopen(os.open(fresh.name, flags, 0o666, dir_fd=place.folder), "wb") as stream:
            stream.write(content)
            stream.flush()
            if replaced_mode is not None:
                os.fchmod(stream.fileno(), replaced_mode)
            # Before it gets its name: after a power cut the name must not lead to half a file.
            os.fsync(stream.fileno())
        if replaced_mode is None:
            _carry(fresh, place)
        else:
            os.replace(fresh.name, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
    finally:
        with suppress(OSError):
            os.unlink(fresh.name, dir_fd=place.folder)
    _sync(place.folder)


def _carry(source: Place, target: Place) -> None:
    """Rename a file; fails if the name is taken.

    Raises:
        OSError: Nothing changed.
    """
    folders = {"src_dir_fd": source.folder, "dst_dir_fd": target.folder}
    try:
        # A link fails if the name is taken; a rename would replace that file.
        os.link(source.name, target.name, follow_symlinks=False, **folders)
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
        # The name was free a moment ago; without hard links nothing makes sure that it still is.
        os.rename(source.name, target.name, **folders)  # noqa: PTH104  (a Path knows no folder handles)
        return
    try:
        os.unlink(source.name, dir_fd=source.folder)
    except OSError:
        # One of the names has to go: with two the file would be refused from now on.
        os.unlink(target.name, dir_fd=target.folder)
        raise


def _holds(place: Place, there: os.stat_result, content: bytes) -> bool:
    """Whether the file has exactly this content."""
    if there.st_size != len(content):
        return False
    handle = os.open(place.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=place.folder)
    with os.fdopen(handle, "rb") as stream:
        # One byte more: it may have grown since its size was looked at.
        return stream.read(len(content) + 1) == content


def _check_kind(root: Root, path: str) -> None:
    if is_database(path):
        raise FileNotWritten(path, "a database is neither written nor moved; choose another name")
    if reason := code_fault(root.path, path):
        raise FileNotWritten(path, f"{reason}; choose another name, or a workspace elsewhere")


def _check_case(place: Place) -> None:
    """Refuse a name that a folder which ignores case would take for one that is there."""
    with os.scandir(place.folder) as entries:
        twins = [entry.name for entry in entries if _folded(entry.name) == _folded(place.name)]
    if twins:
        raise FileNotWritten(place.path, f"its name differs from {twins[0]!r} only in case; use that or another name")


def _is_same_place(one: Place, other: Place) -> bool:
    same_folder = os.path.samestat(os.fstat(one.folder), os.fstat(other.folder))
    return same_folder and _folded(one.name) == _folded(other.name)


def _folded(name: str) -> str:
    # Twice, since folding may leave a text that is not in normal form.
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def _sync(folder: int) -> None:
    """Sync the folder of a file that is in place, if the system can, so that the name survives a power cut."""
    with suppress(OSError):
        os.fsync(folder)
