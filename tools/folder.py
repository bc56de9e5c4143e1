"""The files of one folder, and nothing outside it: hidden and excluded parts do not exist."""

import os
import stat
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path, PurePosixPath

from planner_executor.tools.confinement import inside
from planner_executor.tools.errors import PathRefused

_MOST_FILES = 5_000
_MOST_PARTS = 12
_SKIPPED_FOLDERS = {"node_modules", "__pycache__", "venv", "site-packages"}


class Folder:
    """Finds files by relative path, by pattern, and by the end of a path from elsewhere.

    Args:
        path: The folder; may be created later.
        without: Folders inside it that are not looked into, such as the one that reports are written to.
    """

    def __init__(self, path: Path, without: Sequence[Path] = ()) -> None:
        self.path = path.absolute()
        self._without = tuple(each.absolute() for each in without)

    def file(self, path: str) -> Path | None:
        """Return the real path of a regular file, or None if there is none.

        Raises:
            PathRefused: The path leads out of the folder, or into a part of it that is not read.
        """
        file = self.place(path)
        try:
            return file if stat.S_ISREG(file.stat().st_mode) else None
        except OSError:
            return None

    def place(self, path: str) -> Path:
        """Return the real path of what may be there.

        Raises:
            PathRefused: The path leads out of the folder, or into a part of it that is not read.
        """
        file = inside(self.path, path)
        parts = file.relative_to(self.path.resolve()).parts
        if any(is_private(part) for part in parts) or self._is_left_out(file.parent):
            raise PathRefused(path, self.path, "leads into a hidden or skipped folder")
        return file

    def walk(self) -> Iterator[str]:
        """Yield the relative paths of all files that are read, in order."""
        for here, folders, names in os.walk(self.path):
            parent = Path(here)
            folders[:] = sorted(n for n in folders if not is_private(n) and not self._is_left_out(parent / n))
            yield from ((parent / n).relative_to(self.path).as_posix() for n in sorted(names) if not is_private(n))

    def files(self) -> Iterator[str]:
        """Yield relative paths in order, the first few thousand."""
        return islice((path for path in self.walk() if f"{self.path}/{path}".isprintable()), _MOST_FILES)

    def matching(self, pattern: str) -> list[str]:
        """Return the relative paths that a pattern matches, in order; a path without `*?[` matches itself.

        Raises:
            PathRefused: The pattern leads out of the folder.
        """
        inside(self.path, pattern)
        if self.file(pattern):
            return [PurePosixPath(pattern).as_posix()]
        wanted = PurePosixPath(pattern).parts
        return [path for path in self.files() if matches(PurePosixPath(path).parts, wanted) and self._is_ours(path)]

    def named_like(self, path: str) -> str | None:
        """Return the file here that has the longest end in common with a path from another machine, if there is one.

        `/srv/shop/service/cart.py` may be `service/cart.py` here.
        """
        parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
        ends = ("/".join(parts[start:]) for start in range(max(0, len(parts) - _MOST_PARTS), len(parts)))
        return next((end for end in ends if self._is_ours(end)), None)

    def _is_ours(self, path: str) -> bool:
        try:
            return self.file(path) is not None
        except PathRefused:
            return False

    def _is_left_out(self, folder: Path) -> bool:
        root, real = self.path.resolve(), folder.resolve()
        left_out = (path for item in self._without if (path := item.resolve()) != root and path.is_relative_to(root))
        return any(real.is_relative_to(path) for path in left_out)


def matches(path: Sequence[str], pattern: Sequence[str]) -> bool:
    """Whether a path fits a pattern, both in parts; `**` stands for any number of folders, also for none.

    >>> matches(("logs", "app", "app.log"), ("**", "app.lo?")), matches(("logs", "app.log"), ("*.log",))
    (True, False)
    """
    # All places that can be reached are followed at once: one way after the other takes exponential time with many
    # `**`.
    reached = {0}
    for part in path:
        reached = _past_stars(reached, pattern)
        reached = {
            place if pattern[place] == "**" else place + 1
            for place in reached
            if place < len(pattern) and (pattern[place] == "**" or fnmatchcase(part, pattern[place]))
        }
    return len(pattern) in _past_stars(reached, pattern)


def _past_stars(reached: set[int], pattern: Sequence[str]) -> set[int]:
    """Return the places of the pattern that can be next, since `**` may stand for nothing."""
    found = set(reached)
    for place in sorted(reached):
        while place < len(pattern) and pattern[place] == "**":
            place += 1
            found.add(place)
    return found


def is_private(name: str) -> bool:
    """Whether a part of a path is hidden or skipped, in any case."""
    return name.startswith(".") or name.casefold() in _SKIPPED_FOLDERS
