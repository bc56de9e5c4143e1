"""Parsing of budget limits given on the command line."""

from collections.abc import Iterable
from typing import Any

from planner_executor.graph.errors import InputError
from planner_executor.graph.record.budget import read_budget


def parse_limits(option: str, entries: Iterable[str]) -> dict[str, Any]:
    """Return limits as plain data, such as `{"tool_calls": 20, "calls": {"send_mail": 2}}`.

    Args:
        option: The option's name, for error messages.
        entries: `NAME=VALUE` or `calls.TOOL=VALUE`; if a name is repeated, the last value wins.

    Raises:
        InputError: An entry is malformed, or names an unknown limit.
    """
    limits: dict[str, Any] = {}
    for entry in entries:
        name, equals, value = entry.partition("=")
        if not equals:
            raise InputError(option, f"{entry!r} is not NAME=VALUE; write for example tool_calls=20")
        if name.startswith("calls."):
            limits.setdefault("calls", {})[name.removeprefix("calls.")] = _number(option, entry, value)
        else:
            limits[name] = _number(option, entry, value)
    for name, why in read_budget(limits)[1]:
        raise InputError(option, f"{name} {why}")
    return limits


def _number(option: str, entry: str, value: str) -> float:
    """Return an int if `value` is one, else a float."""
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    raise InputError(option, f"{entry}: {value!r} is not a number")
