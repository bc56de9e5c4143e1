"""JMESPath in bounded work.

An expression of forty short parts can double a list or a text with each of them. Here each visit counts, each text and
list that comes of it, and, for functions that look through a whole value, all of the value.
"""

from collections.abc import Mapping
from typing import Any

import jmespath
from jmespath.exceptions import JMESPathError
from jmespath.functions import Functions
from jmespath.visitor import TreeInterpreter
from pydantic import JsonValue

from graph.plan.work import TooMuchWork, at_most, spend, spend_size

LONGEST = 2_000
"""How many characters an expression may have."""
MOST_WORK = 500_000
"""Steps that one search may take; about half a second."""
_OF_ANYTHING = {"length", "type", "not_null", "to_array"}
_SHALLOW: Mapping[str, type] = {"keys": dict, "values": dict, "map": list, "reverse": list}
"""Functions that do not look into the parts of what they are given, and what that has to be."""


_FUNCTIONS: Any = Functions()


class QueryError(Exception):
    """A search has no result; its text says why. It never leaves `graph.plan` and `graph.run`."""


def query_fault(expression: Any) -> str | None:
    """Say why something is no expression that can be used, or None where it can.

    >>> query_fault("total > `0`"), query_fault("a..b") is None
    (None, False)
    """
    if not isinstance(expression, str) or not expression.strip():
        return "is a JMESPath, such as 'total > `0`'"
    if len(expression) > LONGEST:
        return f"is longer than {LONGEST} characters"
    try:
        jmespath.compile(expression)
    except (
        JMESPathError,
        ArithmeticError,
        ValueError,
        TypeError,
        LookupError,
        AttributeError,
        RecursionError,
    ) as error:
        return f"{expression!r} is no JMESPath: {_sentence(error)}"
    return None


def found_by(expression: str, value: JsonValue) -> Any:
    """Return what an expression without fault finds in a value; JSON text of it is bounded too.

    Raises:
        QueryError: It does not fit the value, or takes too much work.

    >>> found_by("items[?n > `1`].n", {"items": [{"n": 1}, {"n": 2}]})
    [2]
    """
    try:
        with at_most(MOST_WORK):
            found = _Counting().visit(jmespath.compile(expression).parsed, value)
            spend_size(found)
    except TooMuchWork as error:
        raise QueryError(str(error)) from error
    except (
        JMESPathError,
        ArithmeticError,
        ValueError,
        TypeError,
        LookupError,
        AttributeError,
        RecursionError,
    ) as error:
        raise QueryError(_sentence(error)) from error
    return found


class _Counting(TreeInterpreter):
    """Visits as its base does, and counts."""

    def visit(self, node: Any, *args: Any, **kwargs: Any) -> Any:
        spend(1)
        found = super().visit(node, *args, **kwargs)
        if isinstance(found, str | list | dict):
            spend(len(found) >> 4)
        return found

    def visit_comparator(self, node: Any, value: Any) -> Any:
        if node["value"] not in ("eq", "ne"):
            return super().visit_comparator(node, value)
        left, right = (self.visit(child, value) for child in node["children"])
        spend_size([left, right])
        return self.COMPARATOR_FUNC[node["value"]](left, right)

    def visit_function_expression(self, node: Any, value: Any) -> Any:
        name, given = node["value"], [self.visit(child, value) for child in node["children"]]
        for part in given:
            if not (name in _OF_ANYTHING or isinstance(part, _SHALLOW.get(name, ()))):
                spend_size(part)  # which an error about it holds too
        return _FUNCTIONS.call_function(name, given)


def _sentence(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return (str(error).splitlines() or [type(error).__name__])[0]
