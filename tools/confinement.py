"""Paths that stay inside one folder."""

from pathlib import Path, PurePosixPath, PureWindowsPath

from tools.errors import PathRefused

_LONGEST_PATH = 1000
_LONGEST_NAME = 200


def inside(folder: Path, path: str) -> Path:
    """Return where `path` really is, all links followed; it lies inside `folder`, and may not exist yet.

    Args:
        folder: The one folder that may be used; may itself be a link.
        path: Relative, with forward slashes.

    Raises:
        PathRefused: It is absolute, climbs with `..`, follows a link out, or cannot be a file name.
    """
    if reason := _fault(path):
        raise PathRefused(path, folder, reason)
    root = folder.resolve()
    try:
        real = (root / path).resolve()
    except (OSError, RuntimeError) as error:  # a circle of links: RuntimeError before Python 3.13
        raise PathRefused(path, folder, "follows links in a circle") from error
    if real == root:
        raise PathRefused(path, folder, "names the folder itself")
    if not real.is_relative_to(root):
        raise PathRefused(path, folder, "follows a link out of the folder")
    return real


def _fault(path: str) -> str | None:
    if not path.strip():
        return "is empty"
    if not path.isprintable() or "\\" in path:
        return "holds a backslash or a character that does not belong in a file name"
    if PurePosixPath(path).is_absolute() or PureWindowsPath(path).drive:
        return "is absolute"
    parts = PurePosixPath(path).parts
    if ".." in parts:
        return "climbs out with '..'"
    if len(path) > _LONGEST_PATH or any(len(part.encode()) > _LONGEST_NAME for part in parts):
        return "is too long"
    return None
