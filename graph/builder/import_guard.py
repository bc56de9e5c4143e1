"""Imports take nothing that a tool can write: it would become code (decision 131)."""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from os.path import realpath
from pathlib import Path
from typing import Any

from planner_executor.graph.builder.configuration import check_reach
from planner_executor.graph.plan.catalog import ToolSpec

CODE = "it holds code that is imported"


class ImportGuard(MetaPathFinder):
    """Finds modules as those behind it on `sys.meta_path` do; `check` may refuse their files before they run."""

    def __init__(self, check: Callable[[str], None]) -> None:
        self._check = check

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: Any = None) -> ModuleSpec | None:
        """Return the specification of a module.

        Raises:
            ConfigError: A tool can write it.
        """
        behind = sys.meta_path[sys.meta_path.index(self) + 1 :]
        specs = (each.find_spec(fullname, path, target) for each in behind)
        # The other finders look for the module; its file is checked whichever of them knows it.
        found = next((spec for spec in specs if spec is not None), None)
        if found is not None and found.has_location and found.origin is not None:
            self._check(found.origin)
        return found


_writers: dict[Path, ToolSpec] = {}
"""A tool for each folder, links resolved, that a tool of this process can write to."""


def _check(file: str) -> None:
    for folder in Path(realpath(file)).parents:
        if (tool := _writers.get(folder)) is not None:
            check_reach({tool.name: tool}, file, CODE)


_GUARD = ImportGuard(_check)


def guard_imports(tools: Mapping[str, ToolSpec]) -> None:
    """Let this process import nothing from now on that these tools can write.

    Their folder may lie below one of `sys.path`, as `workspace` beside a script does, and be a package there.
    """
    _writers.update({Path(realpath(tool.folder)): tool for tool in tools.values() if tool.acts and tool.folder})
    if _GUARD not in sys.meta_path:
        # Before all others: a finder that comes first would be asked alone.
        sys.meta_path.insert(0, _GUARD)
