"""Names of logs, and of the copies that rotation leaves behind."""

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from planner_executor.tools.folder import matches

_SUFFIXES = (".log", ".jsonl", ".ndjson", ".export", ".journal", ".out", ".err")
_NAMES = {"syslog", "messages", "access_log", "error_log", "dmesg"}
_COUNTED = re.compile(r"^(?P<name>.+?)[.-](?P<number>\d{1,10}(?:[-T_]\d{1,6}){0,5})$", re.ASCII)
_COUNTED_INSIDE = re.compile(
    r"^(?P<name>.+?)[.-](?P<number>\d{1,10}(?:[-T_]\d{1,6}){0,5})(?P<suffix>\.[a-z]+)$", re.ASCII
)
_LARGEST_COUNT = 1000


def is_log_name(name: str) -> bool:
    """Whether a file is named like a log, rotated or not.

    >>> [is_log_name(name) for name in ("app.log", "app.log.2.gz", "access_log-20260915", "cart.py", "notes.md")]
    [True, True, True, False, False]
    """
    name = before_rotation(name) or name
    return name in _NAMES or name.endswith(_SUFFIXES)


def before_rotation(name: str) -> str | None:
    """Return the original name of a rotated copy, or None if the name is not one of rotation.

    >>> before_rotation("app.log.1.gz"), before_rotation("app-2026-09-15.log"), before_rotation("app.log")
    ('app.log', 'app.log', None)
    """
    bare = name.removesuffix(".gz")
    if match := _COUNTED.match(bare):
        return match["name"]
    if match := _COUNTED_INSIDE.match(bare):
        return match["name"] + match["suffix"]
    return bare if bare != name else None


def rotated_copies(wanted: str, files: Iterable[str]) -> list[str]:
    """Return the rotated copies of a log, newest first; only those in its own folder, if there are any.

    Args:
        wanted: A path or pattern, as `tools.folder.Folder.matching` takes it.
        files: Relative paths.
    """
    parts = PurePosixPath(wanted).parts
    old_names = {file: old for file in files if (old := before_rotation(PurePosixPath(file).name))}
    found = [file for file, old in old_names.items() if fnmatchcase(old, parts[-1])]
    beside = [file for file in found if matches((*PurePosixPath(file).parent.parts, old_names[file]), parts)]
    return sorted(beside or found, key=_age)


def _age(file: str) -> tuple[bool, int, str]:
    """Order by what rotation counts: numbers grow with age, dates shrink."""
    bare = PurePosixPath(file).name.removesuffix(".gz")
    match = _COUNTED.match(bare) or _COUNTED_INSIDE.match(bare)
    number = int(re.sub(r"\D", "", match["number"])) if match else 0
    return number >= _LARGEST_COUNT, -number if number >= _LARGEST_COUNT else number, file
