"""How a Python process of ours is started: nothing in the current folder or the environment becomes its code.

`-I` leaves out the current and the script's folder, PYTHONPATH and the user's packages. What the process needs of them
is given by argument, behind its own import path (decision 131).
"""

import os
import sys
from collections.abc import Collection
from pathlib import Path
from stat import S_IWOTH

ALWAYS_KEPT = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TMPDIR", "TZ")
FOLDER = os.sep
"""The current folder of the process."""


def python_command(*arguments: str) -> list[str]:
    """Return the command of an isolated Python with these arguments, the first a file or `-c`."""
    return [sys.executable, "-I", "-B", "-X", "utf8", *arguments]


def environment(also: Collection[str] = ()) -> dict[str, str]:
    """Return the variables that the process gets: no key, and nothing that Python reads."""
    return {name: os.environ[name] for name in (*ALWAYS_KEPT, *also) if name in os.environ}


def import_path() -> list[str]:
    """Return the entries of `sys.path` that the process may add to its own.

    Without the current folder, the script's, and those that anybody may write: a stranger may have filled them.
    """
    left_out = {os.path.realpath(folder) for folder in (Path.cwd(), *_script_folder())}
    return [
        entry
        for entry in sys.path
        if os.path.isabs(entry) and os.path.realpath(entry) not in left_out and not _is_open_to_all(entry)  # noqa: PTH117
    ]


def _script_folder() -> list[Path]:
    """Return the folder that Python put on the path for the program that it runs."""
    program = getattr(sys.modules.get("__main__"), "__file__", None)
    return [] if sys.flags.safe_path or program is None else [Path(program).parent]


def _is_open_to_all(entry: str) -> bool:
    try:
        return bool(Path(entry).stat().st_mode & S_IWOTH)
    except OSError:
        return False
