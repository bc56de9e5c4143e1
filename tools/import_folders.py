"""Where Python finds code: files there are code at the next import, so no tool may write them (decision 131)."""

import sys
from collections.abc import Iterator
from importlib.machinery import all_suffixes
from os.path import normpath, realpath
from pathlib import Path

_CODE = (*all_suffixes(), ".pth")


def import_folders() -> tuple[Path, ...]:
    """Return the folders and archives of `sys.path`, links resolved; an empty entry is the current folder."""
    return tuple(dict.fromkeys(Path(realpath(entry)) for entry in sys.path))


def installation_folders() -> tuple[Path, ...]:
    """Return the folders of this Python's installation or virtual environment, links resolved."""
    return tuple(dict.fromkeys(Path(realpath(prefix)) for prefix in (sys.prefix, sys.exec_prefix)))


def code_fault(folder: Path, path: str) -> str | None:
    """Return why a file could become code of this Python, or None.

    A folder below one of `sys.path`, such as `workspace` beside a script, takes all files but modules.

    Args:
        folder: The folder of a tool; may be a link.
        path: The file's path in it, which leads through no link.
    """
    home = Path(realpath(folder))
    return next(_faults(Path(normpath(home / path)), home), None)


def _faults(file: Path, home: Path) -> Iterator[str]:
    for prefix in installation_folders():
        if file.is_relative_to(prefix):
            yield f"it lies within {prefix}, where Python is installed"
    is_code = file.name.casefold().endswith(_CODE)
    for entry in import_folders():
        if file.is_relative_to(entry) and (is_code or entry.is_relative_to(home)):
            yield f"Python imports from {entry}, so it could become code"
