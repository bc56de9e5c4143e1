"""Optional dependencies of tools, checked without importing them."""

from importlib.util import find_spec

NOT_INSTALLED = "Not installed, do not use:"
"""How the description of a tool begins whose extra is missing."""


def missing_extra(module: str, extra: str) -> str | None:
    """Return the install command of a missing extra, or None if it is installed.

    >>> missing_extra("json", "data") is None, missing_extra("no_such_module", "data")
    (True, "it needs: pip install 'planner-executor[data]'")
    """
    try:
        found = find_spec(module)
    except ValueError:  # it is loaded as something that is no module
        found = None
    return None if found else f"it needs: pip install 'planner-executor[{extra}]'"


def described(description: str, module: str, extra: str) -> str:
    """Return a tool's description; if its extra is missing, one that keeps a planner from using it."""
    needed = missing_extra(module, extra)
    return f"{NOT_INSTALLED} {needed}" if needed else description
