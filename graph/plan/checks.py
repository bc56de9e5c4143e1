"""The faults of checks as their authors wrote them."""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from planner_executor.graph.plan.check import OF
from planner_executor.graph.plan.expressions import jmespath_fault
from planner_executor.graph.plan.inline_schema import inline_schema_fault
from planner_executor.graph.plan.json_values import is_number
from planner_executor.graph.plan.patterns import pattern_fault
from planner_executor.graph.plan.relative_path import path_fault
from planner_executor.graph.words.name_list import listed


def check_faults(check: Mapping[str, Any], tools: Collection[str]) -> Iterator[str]:
    """Yield the faults of a check.

    Args:
        check: The check as its author wrote it.
        tools: Names of the tools that the step may call.
    """
    kinds = [name for name in check if name in KINDS]
    for name in check:
        if name != OF and name not in KINDS:
            yield f"unknown check {name!r}; use one of {', '.join(KINDS)}, and {OF} for a part of the result"
    # What follows depends on the kind, so that nothing more can be said without one.
    if len(kinds) != 1:
        named = f"has {' and '.join(kinds)}" if kinds else "has none of them"
        yield f"a check has exactly one of {', '.join(KINDS)}; this one {named}"
        return
    if fault := KINDS[kinds[0]](check[kinds[0]]):
        yield f"{kinds[0]} {fault}"
    if kinds == ["called"] and check["called"] not in tools:
        yield f"called: {check['called']!r} is not a tool of the step; its tools: {listed(list(tools)) or 'none'}"
    if OF in check:
        if kinds[0] in ABOUT_NO_PART:
            yield f"{OF} does not go with {kinds[0]}"
        elif fault := jmespath_fault(check[OF]):
            yield f"{OF} {fault}"


def _schema_fault(schema: Any) -> str | None:
    if not isinstance(schema, dict):
        return "must be a JSON Schema, an object"
    fault = inline_schema_fault(schema)
    return f"is not a usable JSON Schema: {fault}" if fault else None


def _matches_fault(pattern: Any) -> str | None:
    return pattern_fault(pattern) if isinstance(pattern, str) else "must be a regular expression, as text"


def _range_fault(ends: Any) -> str | None:
    if not isinstance(ends, list) or len(ends) != 2 or not all(end is None or is_number(end) for end in ends):
        return "must be [min, max], two numbers; null leaves an end open"
    low, high = ends
    if low is None and high is None:
        return "is open at both ends; give one of them"
    # Both ends are numbers here; equal ends are a range of one value.
    return f"[{low}, {high}] is empty; give the smaller number first" if None not in ends and low > high else None


def _path_fault(path: Any) -> str | None:
    if not isinstance(path, str):
        return "must be the path of a file in the workspace, as text"
    fault = path_fault(path)
    return f"{path!r} {fault}; give a path within the workspace" if fault else None


KINDS: Mapping[str, Callable[[Any], str | None]] = {
    "schema": _schema_fault,
    "condition": jmespath_fault,
    "matches": _matches_fault,
    "range": _range_fault,
    "non_empty": lambda wanted: None if wanted is True else "must be true",
    "file_exists": _path_fault,
    "cites": lambda least: None if type(least) is int and least > 0 else "must be the least number of citations, >= 1",
    "called": lambda tool: None if isinstance(tool, str) else "must be the name of a tool",
}
"""Kind of check -> function that returns the fault of its operand, None if there is no fault."""
ABOUT_NO_PART = ("file_exists", "called")
"""Kinds that do not depend on the result, so that `of` makes no sense with them."""
