"""Reading constraints on arguments, as a policy or a standing approval states them: argument -> conditions.

```toml
to = { domains = ["example.com"], untrusted_from = ["read_contacts"] }
copies = { above = 10 }
```
"""

from collections.abc import Iterator, Mapping
from typing import Any

from planner_executor.graph.plan.json_values import json_faults
from planner_executor.graph.plan.patterns import dotall, pattern_fault
from planner_executor.graph.policy.constraints import Constraint, is_within
from planner_executor.graph.policy.entry_faults import are_texts, is_finite, unknown_entry
from planner_executor.graph.policy.hosts import plain_host

NUMBERS = ("minimum", "maximum", "above", "below")
CONDITIONS = ("domains", "within", *NUMBERS, "one_of", "pattern")
CONSTRAINTS = (*CONDITIONS, "untrusted_from", "optional")
Path = tuple[str, ...]


def read_constraints(table: Mapping[str, Mapping[str, Any]]) -> dict[str, Constraint]:
    """Return the constraints of a table without faults, by argument."""
    return {name: _constraint(raw) for name, raw in table.items()}


def constraint_table_faults(path: Path, table: Any, known: tuple[str, ...] = CONSTRAINTS) -> Iterator[tuple[Path, str]]:
    """Yield (path, fault) of a table whose constraints may have these entries."""
    if not isinstance(table, Mapping):
        yield path, "must be a table of arguments"
        return
    for name, constraint in table.items():
        yield from _faults((*path, name), constraint, known)


def _constraint(raw: Mapping[str, Any]) -> Constraint:
    fields: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in raw.items()}
    return Constraint(**fields)


def _faults(path: Path, constraint: Any, known: tuple[str, ...]) -> Iterator[tuple[Path, str]]:
    if not isinstance(constraint, Mapping):
        yield path, f"must be a table with some of {', '.join(known)}"
        return
    if not constraint and known is CONDITIONS:
        yield path, f"is empty; give some of {', '.join(known)}"
    for key, value in constraint.items():
        if why := _entry_fault(key, value) if key in known else unknown_entry(known, key):
            yield (*path, key), why


def _entry_fault(key: str, value: Any) -> str | None:
    """Return the fault of one entry of a constraint, None if there is no fault."""
    if key in ("domains", "within", "untrusted_from"):
        return _list_fault(key, value)
    if key == "one_of":
        return _values_fault(value)
    if key in NUMBERS:
        return None if is_finite(value) else "must be a number"
    if key == "optional":
        return None if isinstance(value, bool) else "must be true or false"
    if not isinstance(value, str):
        return "must be a regular expression, as text"
    fault = pattern_fault(dotall(value))
    return f"cannot be used: {fault}" if fault else None


def _values_fault(values: Any) -> str | None:
    if not isinstance(values, list) or not values:
        return "must be a non-empty list"
    return next((f"has a value that no argument can have: {why}" for _, why in json_faults(values)), None)


def _list_fault(key: str, value: Any) -> str | None:
    if not are_texts(value):
        return "must be a non-empty list of texts"
    if key == "domains" and (odd := [text for text in value if not plain_host(text)]):
        return f"contains {odd[0]!r}, which is not a plain host; write one such as example.com"
    if key == "within" and (odd := [text for text in value if not is_within(text, text)]):
        return f"contains {odd[0]!r}, which cannot contain a path; write a folder without `..`"
    return None
