"""A file in the first of several folders that has it."""

from collections.abc import Sequence

from planner_executor.tools.errors import NoSuchFile
from planner_executor.tools.files.root import Root, names_like


def root_containing(roots: Sequence[Root], path: str) -> Root:
    """Return the first folder that has something at a path.

    Raises:
        PathRefused: The path leads out of the folders, or to something hidden.
        NoSuchFile: None has it.
    """
    for root in roots:
        if root.has(path):
            return root
    raise NoSuchFile(path, names_like(path, [found.path for root in roots for found in root.files()]))
