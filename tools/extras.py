"""Optional dependencies of tools, checked without importing them."""

import sys
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec

EXTRAS: Mapping[str, tuple[str, str]] = {
    "web_search": ("ddgs", "web"),
    "fetch_page": ("trafilatura", "web"),
    "convert_document": ("markitdown", "office"),
    "run_python": ("pydantic_monty", "sandbox"),
}
"""Tool -> the module that it needs and the extra that brings it."""


def missing_extra(module: str, extra: str) -> str | None:
    """Return the install command of a missing extra, or None if it is installed.

    >>> missing_extra("json", "data") is None, missing_extra("no_such_module", "data")
    (True, "it needs: pip install '.[data]' in the folder of planner-executor")
    """
    found = sys.modules[module] if module in sys.modules else _is_installed(module)
    return None if found else f"it needs: pip install '.[{extra}]' in the folder of planner-executor"


@cache  # a look at every folder of imports, and each toolbox asks
def _is_installed(module: str) -> bool:
    return find_spec(module) is not None


def absent_tools() -> dict[str, str]:
    """Return the tools whose extra is missing, with the command that installs it."""
    found = {tool: missing_extra(module, extra) for tool, (module, extra) in EXTRAS.items()}
    return {tool: needed for tool, needed in found.items() if needed}
