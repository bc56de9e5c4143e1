"""What the text of a path in a plan may be: a file inside the workspace, which is not looked at here."""

from pathlib import PurePosixPath, PureWindowsPath

LONGEST_PATH = 1000
LONGEST_NAME = 200


def path_fault(path: str) -> str | None:
    """Return why a text can name no file inside a folder, None if it can.

    The tools have the same rule for the paths that they are given (`tools.path_text`): neither package imports the
    other for it, and a test holds that they agree.

    >>> path_fault("report.md"), path_fault("../report.md")
    (None, "climbs out with '..'")
    """
    if not path.strip():
        return "is empty"
    # On Windows a backslash separates folders, so one name here would be a path there.
    if not path.isprintable() or "\\" in path:
        return "holds a backslash or a character that does not belong in a file name"
    # A drive makes a path absolute on Windows, whatever this machine is.
    if PurePosixPath(path).is_absolute() or PureWindowsPath(path).drive:
        return "is absolute"
    parts = PurePosixPath(path).parts
    if ".." in parts:
        return "climbs out with '..'"
    # A name is measured in bytes, as file systems do.
    if len(path) > LONGEST_PATH or any(len(part.encode()) > LONGEST_NAME for part in parts):
        return "is too long"
    return None
