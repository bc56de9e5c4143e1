"""Limits of a budget as they are written on the command line."""

from collections.abc import Iterable
from typing import Any

from graph.errors import InputError
from graph.record.budget import read_budget


def limits_of(option: str, entries: Iterable[str]) -> dict[str, Any]:
    """Return limits as plain data, such as `{"tool_calls": 20, "calls": {"send_mail": 2}}`.

    Args:
        option: Where they were given.
        entries: `NAME=VALUE`, or `calls.TOOL=VALUE`; of one that is given twice the last counts.

    Raises:
        InputError: One of them is none.
    """
    limits: dict[str, Any] = {}
    for entry in entries:
        name, equals, value = entry.partition("=")
        if not equals:
            raise InputError(option, f"write NAME=VALUE, such as tool_calls=20, not {entry!r}")
        if name.startswith("calls."):
            limits.setdefault("calls", {})[name.removeprefix("calls.")] = _number(option, entry, value)
        else:
            limits[name] = _number(option, entry, value)
    for name, why in read_budget(limits)[1]:
        raise InputError(option, f"{name} {why}")
    return limits


def _number(option: str, entry: str, value: str) -> float:
    """Return a number, whole where it is written so."""
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    raise InputError(option, f"{entry}: {value!r} is no number")
