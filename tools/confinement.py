"""Paths that stay inside one folder."""

from pathlib import Path

from planner_executor.tools.errors import PathRefused
from planner_executor.tools.path_text import path_fault


def inside(folder: Path, path: str) -> Path:
    """Return the real path of `path`, links resolved. It is inside `folder`, and may not exist yet.

    Args:
        folder: The one folder that may be used; may itself be a link.
        path: Relative, with forward slashes.

    Raises:
        PathRefused: It is absolute, climbs with `..`, follows a link out, or cannot be a file name.
    """
    if reason := path_fault(path):
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
