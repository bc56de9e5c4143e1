"""The files of a workspace that `write_report` wrote: these may be replaced, others only with `overwrite`.

Their digests are kept in a hidden file of the workspace, which no tool can name. An edited file is no longer one of
them.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from planner_executor.tools.errors import FileNotReadable, NoSuchFile
from planner_executor.tools.files.root import Root

NAME = ".written-reports.json"
PATHS = 1_000
"""So many paths are remembered: those that were written last."""
VERSIONS = 2
"""What is about to be written is noted first, so a file may hold this version or the one before."""


class OwnFiles:
    """The files that were written into one folder, by relative path."""

    def __init__(self, root: Root) -> None:
        self._root, self._file = root, root.path / NAME

    def has(self, path: str) -> bool:
        """Whether the file at a path is as it was written here.

        Raises:
            PathRefused: The path leads out of the folder, or the file is none of its own.
        """
        known = self._read().get(path, ())
        if not known:
            return False
        try:
            with self._root.open(path) as stream:
                return hashlib.sha256(stream.read()).hexdigest() in known
        except (NoSuchFile, FileNotReadable):
            return False

    def note(self, path: str, content: bytes) -> None:
        """Note a file before it is written.

        Raises:
            OSError: It cannot be noted.
        """
        digest = hashlib.sha256(content).hexdigest()
        noted = dict(self._read())
        versions = [*(one for one in noted.pop(path, ()) if one != digest), digest]
        noted[path] = versions[-VERSIONS:]
        latest = dict(list(noted.items())[-PATHS:])
        self._root.path.mkdir(parents=True, exist_ok=True)
        part = self._file.with_name(f"{NAME}.part")
        # Always a new file, never through a link: others may write into the workspace.
        with suppress(FileNotFoundError):
            part.unlink()
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "w") as stream:
            json.dump(latest, stream)
        part.replace(self._file)

    def _read(self) -> Mapping[str, list[str]]:
        """Return path -> digests; empty if the file is not in that form."""
        try:
            found = json.loads(Path(self._file).read_bytes()) if self._file.is_file() else {}
        except (OSError, ValueError):
            return {}
        if not isinstance(found, dict):
            return {}
        return {path: known for path, known in found.items() if isinstance(known, list)}
