"""Checks: what a machine finds out about the result of a step. Each is one small object.

It has one key of `KINDS`, and with `of`, a JMESPath, it is about a part of the result.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from pydantic import JsonValue

from graph.errors import listed
from graph.plan.canonical import canonical_json
from graph.plan.expressions import expression_fault
from graph.plan.inline_schema import schema_fault
from graph.plan.patterns import pattern_fault
from graph.plan.relative_path import path_fault

Check = Mapping[str, JsonValue]
OF = "of"


def check_faults(check: Mapping[str, Any], tools: Collection[str]) -> Iterator[str]:
    """Yield what is wrong with a check.

    Args:
        check: As an author wrote it.
        tools: What the step may call.
    """
    kinds = [name for name in check if name in KINDS]
    for name in check:
        if name != OF and name not in KINDS:
            yield f"unknown check {name!r}; a check has one of {', '.join(KINDS)}, and {OF} for a part of the result"
    if len(kinds) != 1:
        named = f"has {' and '.join(kinds)}" if kinds else "has none"
        yield f"a check has one of {', '.join(KINDS)}; this one {named}"
        return
    if fault := KINDS[kinds[0]](check[kinds[0]]):
        yield f"{kinds[0]} {fault}"
    if kinds == ["called"] and check["called"] not in tools:
        yield f"called {check['called']!r} is none of the step's tools; it has {listed(list(tools)) or 'none'}"
    if OF in check:
        if kinds[0] in ABOUT_NO_PART:
            yield f"{OF} does not go with {kinds[0]}"
        elif fault := _expression_fault(check[OF]):
            yield f"{OF} {fault}"


def kind_of(check: Check) -> str:
    """Return what a check without faults looks at."""
    return next(name for name in check if name != OF)


def check_in_words(check: Check) -> str:
    """Return a check as people read it.

    >>> check_in_words({"range": [0, None], "of": "total"}), check_in_words({"non_empty": True})
    ('range [0,null] of total', 'non_empty')
    """
    kind = kind_of(check)
    wanted = check[kind]
    told = "" if wanted is True else f" {wanted if isinstance(wanted, str) else canonical_json(wanted).decode()}"
    return f"{kind}{told}{f' of {check[OF]}' if OF in check else ''}"


def _expression_fault(expression: Any) -> str | None:
    if not isinstance(expression, str) or not expression.strip():
        return "is a JMESPath, such as 'total > `0`'"
    fault = expression_fault(expression)
    return f"{expression!r} {fault}" if fault else None


def _schema_fault(schema: Any) -> str | None:
    if not isinstance(schema, dict):
        return "is a JSON Schema, an object"
    fault = schema_fault(schema)
    return f"is no JSON Schema that can be used: {fault}" if fault else None


def _matches_fault(pattern: Any) -> str | None:
    return pattern_fault(pattern) if isinstance(pattern, str) else "is a regular expression, as text"


def _range_fault(ends: Any) -> str | None:
    if not isinstance(ends, list) or len(ends) != 2 or not all(end is None or is_number(end) for end in ends):
        return "is [least, most], two numbers; null leaves an end open"
    low, high = ends
    if low is None and high is None:
        return "is open at both ends; give one of them"
    return f"[{low}, {high}] holds no number" if None not in ends and low > high else None


def _path_fault(path: Any) -> str | None:
    if not isinstance(path, str):
        return "is the path of a file in the workspace, as text"
    fault = path_fault(path)
    return f"{path!r} {fault}; give a path within the workspace" if fault else None


def is_number(value: Any) -> bool:
    """Whether JSON writes it as a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


KINDS: Mapping[str, Callable[[Any], str | None]] = {
    "schema": _schema_fault,
    "condition": _expression_fault,
    "matches": _matches_fault,
    "range": _range_fault,
    "non_empty": lambda wanted: None if wanted is True else "is true",
    "file_exists": _path_fault,
    "cites": lambda least: None if type(least) is int and least > 0 else "is how many citations there are at least",
    "called": lambda tool: None if isinstance(tool, str) else "is the name of a tool",
}
"""What a check looks at -> what is wrong with how it is written, None where nothing is."""
ABOUT_NO_PART = ("file_exists", "called")
"""Checks that do not look at the result."""

CHECK_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "schema": {"type": "object"},
        "condition": {"type": "string"},
        "matches": {"type": "string"},
        "range": {"type": "array", "items": {"type": ["number", "null"]}},
        "non_empty": {"enum": [True]},
        "file_exists": {"type": "string"},
        "cites": {"type": "integer"},
        "called": {"type": "string"},
        OF: {"type": "string"},
    },
    "additionalProperties": False,
}
"""The form of a check as servers are told it that hold a model's answer to one."""
