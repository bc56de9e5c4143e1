"""Collects a test that takes nothing but the cases of its table as one item, which runs all of them.

To collect, set up and report an item takes some milliseconds, and each process collects all; most of these cases take
less than one. `EACH_CASE=1` collects each by itself.
"""

import os
import reprlib
from collections.abc import Callable, Sequence
from inspect import iscoroutinefunction, isfunction, signature
from itertools import product
from typing import Any

import pytest

APART = "EACH_CASE" in os.environ
LEAST = 5
"""Fewer cases are left apart: there is little to save, and they may be long."""
Case = dict[str, Any]


def cases_of(test: Any) -> list[Case]:
    """Return the arguments of each case; none if each needs an item: for a fixture, a mark, a loop, a property."""
    tables = getattr(test, "pytestmark", [])
    plain = isfunction(test) and not iscoroutinefunction(test) and not hasattr(test, "is_hypothesis_test")
    if not plain or not all(mark.name == "parametrize" and len(mark.args) == 2 for mark in tables):
        return []
    columns = [_names(mark.args[0]) for mark in tables]
    rows = [row for mark in tables for row in mark.args[1]]
    is_bare = not any(mark.kwargs.keys() - {"ids"} for mark in tables) and not any(map(_marks, rows))
    if not is_bare or {*signature(test).parameters} != {name for names in columns for name in names}:
        return []
    each = [[_case(names, row) for row in mark.args[1]] for names, mark in zip(columns, tables, strict=True)]
    return [{name: value for part in parts for name, value in part.items()} for parts in product(*each)]


def together(test: Callable[..., object], cases: Sequence[Case]) -> Callable[[], None]:
    """Return a test that runs all cases, up to the first that fails, which the error names."""

    def run() -> None:
        __tracebackhide__ = True
        for number, case in enumerate(cases):
            try:
                test(**case)
            except BaseException as error:
                error.add_note(f"case {number} of {len(cases)}: {reprlib.repr(case)}")
                raise

    run.__doc__ = test.__doc__
    run.place_as = test  # type: ignore[attr-defined]  # where pytest says that it stands
    return run


def item_of(module: pytest.Collector, name: str, test: Any) -> pytest.Item | None:
    """Return the item of all cases of a test, or None if pytest is to collect it as ever."""
    if APART or not isinstance(module, pytest.Module) or not module.funcnamefilter(name):
        return None
    cases = cases_of(test) if module.get_closest_marker("slow") is None else []
    if len(cases) < LEAST:
        return None
    item: pytest.Item = pytest.Function.from_parent(module, name=name, callobj=together(test, cases))
    return item


def _names(said: str | Sequence[str]) -> list[str]:
    return [name.strip() for name in said.split(",")] if isinstance(said, str) else list(said)


def _marks(row: Any) -> Any:
    return isinstance(row, _PARAM) and row.marks


def _case(names: list[str], row: Any) -> Case:
    values = row.values if isinstance(row, _PARAM) else (row,) if len(names) == 1 else row
    return dict(zip(names, values, strict=True))


_PARAM = type(pytest.param())
