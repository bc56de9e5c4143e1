"""The form of a relative path to a file inside a folder; the file system is not consulted."""

from pathlib import PurePosixPath, PureWindowsPath

_LONGEST_PATH = 1000
_LONGEST_NAME = 200


def path_fault(path: str) -> str | None:
    """Return why a path cannot name a file inside a folder, or None if it can."""
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
