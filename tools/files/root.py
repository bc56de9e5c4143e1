"""One folder, held by an open handle: no file outside it can be reached, whoever changes it meanwhile.

Each part of a path is opened from the handle of the part before it, and none of them may be a link. So a folder that
is exchanged for a link in between is refused; a path that is checked first and opened later would be followed out.
Hidden parts, hard links, devices, pipes and database files are refused too.
"""

import os
import stat
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from difflib import get_close_matches
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import BinaryIO, NamedTuple

from planner_executor.tools.errors import FileNotReadable, NoSuchFile, PathRefused
from planner_executor.tools.folder import is_private, matches
from planner_executor.tools.path_text import path_fault

MOST_FILES = 10_000
_DEEPEST = 40
_NAMES_SUGGESTED = 8
_DATABASES = (".db", ".db3", ".sqlite", ".sqlite3", "-wal", "-shm", "-journal")


class Place(NamedTuple):
    """A name in a folder that is held open: `folder` is a file descriptor, valid as long as the place is."""

    path: str
    folder: int
    name: str

    def look(self) -> os.stat_result | None:
        """Return the status of the entry, without following a link, or None."""
        try:
            return os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)
        except FileNotFoundError:
            return None


class Found(NamedTuple):
    """A regular file; `modified_at` in Unix seconds."""

    path: str
    size: int
    modified_at: float


class Root:
    """A folder and what is in it.

    Args:
        path: The folder; may be created later, may itself be a link.
        name: Its name in results and errors.
    """

    def __init__(self, path: Path, name: str) -> None:
        self.path = path.absolute()
        self.name = name

    @contextmanager
    def place(self, path: str, *, make: bool = False) -> Iterator[Place]:
        """Hold the folder that a path leads to; the name in it may not exist.

        Args:
            path: Relative, with forward slashes.
            make: Make the folders that are missing.

        Raises:
            PathRefused: The path leads out of the folder, through a link, or to something hidden.
            NoSuchFile: A folder on the way is missing.
            OSError: A folder cannot be opened or made.
        """
        parts = self._parts(path)
        handle = self._opened(path, make=make)
        try:
            for part in parts[:-1]:
                inner = self._step(handle, part, path, make=make)
                os.close(handle)
                handle = inner
            yield Place(path, handle, parts[-1])
        finally:
            os.close(handle)

    def has(self, path: str) -> bool:
        """Whether there is anything at a path.

        Raises:
            PathRefused: The path leads out of the folder, through a link, or to something hidden.
        """
        try:
            with self.place(path) as place:
                return place.look() is not None
        except (NoSuchFile, OSError):
            return False

    def open(self, path: str) -> BinaryIO:
        """Open a regular file for reading.

        Raises:
            PathRefused: The path leads out of the folder, or the file is none of its own.
            NoSuchFile: There is none.
            FileNotReadable: It cannot be opened.
        """
        if is_database(path):
            raise FileNotReadable(path, "it is a database; query_sqlite reads it")
        try:
            with self.place(path) as place:
                self.check_own(place)
                # Not blocking: a pipe put in the file's place would hold the call until somebody writes to it.
                flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
                stream = os.fdopen(os.open(place.name, flags, dir_fd=place.folder), "rb")
        except FileNotFoundError as error:
            raise self.missing(path) from error
        except OSError as error:
            raise FileNotReadable(path, error.strerror or type(error).__name__) from error
        if reason := fault_of(os.fstat(stream.fileno())):  # exchanged since it was looked at
            stream.close()
            raise PathRefused(path, self.path, reason)
        return stream

    def check_own(self, place: Place) -> None:
        """Raise unless there is a regular file that has no other name.

        Raises:
            PathRefused: There is something else.
            NoSuchFile: There is nothing.
        """
        found = place.look()
        if found is None:
            raise self.missing(place.path)
        if reason := fault_of(found):
            raise PathRefused(place.path, self.path, reason)

    def files(self, pattern: str = "**") -> Iterator[Found]:
        """Yield the regular files that a pattern matches, in order; at most some thousand files are looked at.

        Raises:
            PathRefused: The pattern leads out of the folder.
        """
        if reason := path_fault(pattern):
            raise PathRefused(pattern, self.path, reason)
        try:
            handle = self._opened(pattern, make=False)
        except (NoSuchFile, OSError):
            return
        wanted = PurePosixPath(pattern).parts
        # Closed here and not some time later: a walk that is broken off holds folders open.
        with closing(_walk(handle, ())) as every:
            yield from (found for found in islice(every, MOST_FILES) if matches(found.path.split("/"), wanted))

    def missing(self, path: str) -> NoSuchFile:
        """Return the error for a missing file, with similar names."""
        return NoSuchFile(path, names_like(path, [found.path for found in self.files()]))

    def _parts(self, path: str) -> tuple[str, ...]:
        parts = PurePosixPath(path).parts
        if reason := path_fault(path) or _name_fault(parts):
            raise PathRefused(path, self.path, reason)
        return parts

    def _opened(self, path: str, *, make: bool) -> int:
        if os.open not in os.supports_dir_fd:
            raise FileNotReadable(path, "this system cannot hold a folder open while its files are used")
        if make:
            self.path.mkdir(parents=True, exist_ok=True)
        try:
            return os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError as error:
            raise NoSuchFile(path, ()) from error

    def _step(self, folder: int, name: str, path: str, *, make: bool) -> int:
        if make:
            with suppress(FileExistsError):
                os.mkdir(name, dir_fd=folder)
        try:
            return _open_folder(name, folder)
        except FileNotFoundError as error:
            raise self.missing(path) from error
        except OSError as error:
            # Without following it a link fails as a file does ("not a directory"), and only the link is to be refused.
            found = Place(path, folder, name).look()
            if found is not None and stat.S_ISLNK(found.st_mode):
                raise PathRefused(path, self.path, f"follows the link {name!r}") from error
            raise


def fault_of(found: os.stat_result) -> str | None:
    """Return why an entry of the folder is not a regular file with a single name, or None if it is."""
    if stat.S_ISLNK(found.st_mode):
        return "is a link"
    if stat.S_ISDIR(found.st_mode):
        return "is a folder"
    if not stat.S_ISREG(found.st_mode):
        return "is not a regular file"
    if found.st_nlink > 1:
        return f"is one of {found.st_nlink} hard links, so it may be a file from elsewhere"
    return None


def is_database(path: str) -> bool:
    """Whether a name is that of an SQLite file or of what lies beside one.

    A process that holds such a file open loses its locks on it when any handle of the file is closed, so nothing but
    SQLite may open it.
    """
    return path.lower().endswith(_DATABASES)


def names_like(path: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return names similar to a missing one; else of the same kind, else any."""
    kind = PurePosixPath(path).suffix.lower()
    alike = get_close_matches(path, names, _NAMES_SUGGESTED) or [name for name in names if name.endswith(kind)]
    return tuple(alike[:_NAMES_SUGGESTED] or names[:_NAMES_SUGGESTED])


def _walk(handle: int, above: tuple[str, ...]) -> Generator[Found, None, None]:
    """Yield the files below an open folder, and close it."""
    try:
        with os.scandir(handle) as entries:
            shown = [entry for entry in entries if not is_private(entry.name) and entry.name.isprintable()]
        for entry in sorted(shown, key=lambda entry: entry.name):
            parts = (*above, entry.name)
            if entry.is_dir(follow_symlinks=False) and len(parts) < _DEEPEST:
                try:
                    inner = _open_folder(entry.name, handle)
                except OSError:  # not ours to read, or exchanged since it was listed
                    continue
                yield from _walk(inner, parts)
            elif entry.is_file(follow_symlinks=False):
                with suppress(FileNotFoundError):
                    about = entry.stat(follow_symlinks=False)
                    yield Found("/".join(parts), about.st_size, about.st_mtime)
    finally:
        os.close(handle)


def _open_folder(name: str, parent: int) -> int:
    return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)


def _name_fault(parts: Sequence[str]) -> str | None:
    if not parts:
        return "names the folder itself"
    if any(is_private(part) for part in parts):
        return "leads into a hidden or skipped folder"
    return None
