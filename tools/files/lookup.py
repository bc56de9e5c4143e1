"""A file in the first of several folders that has it."""

from collections.abc import Mapping, Sequence
from typing import Any

from planner_executor.tools.errors import NoSuchFile
from planner_executor.tools.files.root import Root, names_like
from planner_executor.tools.workers.process import Bounds, in_child


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


def ask_of_file(
    roots: Sequence[Root], path: str, task: str, request: Mapping[str, Any], bounds: Bounds
) -> dict[str, Any]:
    """Return the answer of a child process about a file, see `in_child`, with the file's path and folder.

    The child finds the open file under `handle` of its request.

    Raises:
        PathRefused, NoSuchFile, FileNotReadable: See `root_containing` and `Root.open`.
        Fault, WorkStopped: See `in_child`.
    """
    root = root_containing(roots, path)
    with root.open(path) as stream:
        handle = stream.fileno()
        found = in_child(task, {**request, "handle": handle}, bounds, (handle,))
    return {"path": path, "folder": root.name, **found}
