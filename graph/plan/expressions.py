"""JMESPath with limits on the length, depth and work of an expression.

JMESPath has no loops, but every part of an expression can double the value of the part before it. So evaluation counts
each visit, copy and comparison, and a value's size is measured before the value is serialized
(docs/decisions/0028-references.md).
"""

from collections.abc import Collection
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from typing import Any

import jmespath
from jmespath.exceptions import JMESPathError, JMESPathTypeError
from jmespath.functions import Functions, signature
from jmespath.visitor import Options, TreeInterpreter
from pydantic import JsonValue

from planner_executor.graph.errors import ExpressionError
from planner_executor.graph.plan.canonical import canonical_json
from planner_executor.graph.plan.json_values import parts_of

MAX_CHARACTERS = 2_000
MAX_DEPTH = 50
MAX_WORK = 1_000_000
"""Limit of nodes and list items that one evaluation visits: less than a second of processor time."""
MAX_SIZE = 50_000_000
"""Limit of a value's size in characters; a number, a list or an object counts as eight."""

CHARACTERS_PER_WORK = 16
NODE_CHARACTERS = 8
MAX_DIGITS = 12
"""Limit of the digits after the point that `round` and `format_number` give."""
SHALLOW = frozenset(
    {"keys", "length", "map", "max_by", "merge", "min_by", "not_null", "sort_by", "to_array", "type", "values"}
)
"""Functions that read only the top level of their arguments."""

_IDENTITY: dict[str, Any] = {"type": "identity", "children": []}


@dataclass
class Allowance:
    """The remaining work and size of one evaluation, or of all references of one step."""

    work: int = MAX_WORK
    size: int = MAX_SIZE

    def spend(self, work: int) -> None:
        """Subtract some work.

        Raises:
            ExpressionError: It exceeds the remaining work.
        """
        self.work -= work
        if self.work < 0:
            raise ExpressionError(f"takes more than {MAX_WORK} steps to evaluate; refer to a smaller part")

    def walk(self, value: Any) -> None:
        """Subtract the work of a function that reads a whole value.

        Raises:
            ExpressionError: It exceeds the remaining work.
        """
        size = _size(value, CHARACTERS_PER_WORK * max(0, self.work))
        self.spend(1 + size // CHARACTERS_PER_WORK)

    def hold(self, value: Any) -> None:
        """Subtract the size of a value that is substituted.

        Raises:
            ExpressionError: It exceeds the remaining size.
        """
        self.size -= _size(value, self.size)
        if self.size < 0:
            raise ExpressionError(f"gives more than {MAX_SIZE} characters; refer to a smaller part")


def expression_fault(expression: str) -> str | None:
    """Return why an expression cannot be used, as the end of a sentence about it, or None if it can.

    >>> expression_fault("items[0].url"), expression_fault("items[")
    (None, 'is not a JMESPath: Invalid jmespath expression: Incomplete expression:')
    """
    if len(expression) > MAX_CHARACTERS:
        return f"is longer than {MAX_CHARACTERS} characters"
    return _fault(expression)


def jmespath_fault(expression: Any) -> str | None:
    """Return why a value is no JMESPath, None if it is one."""
    if not isinstance(expression, str) or not expression.strip():
        return "must be a JMESPath, such as 'total > `0`'"
    fault = expression_fault(expression)
    return f"{expression!r} {fault}" if fault else None


def evaluate(expression: str, value: JsonValue, allowance: Allowance | None = None) -> JsonValue:
    """Evaluate an expression.

    Args:
        expression: JMESPath.
        value: The value that it is applied to.
        allowance: The remaining work and size; reduced in place.

    Raises:
        ExpressionError: The expression is invalid, does not fit the value, takes too much work, or its value is not
            JSON.
    """
    if fault := expression_fault(expression):
        raise ExpressionError(fault)
    left = allowance or Allowance()
    try:
        found: JsonValue = _Interpreter(left).visit(_parsed(expression), value)
        left.hold(found)
        canonical_json(found)  # a literal or `to_number` may produce NaN or an infinity
    except JMESPathTypeError as error:  # its own message quotes the whole value
        expected = " or ".join(error.expected_types)
        raise ExpressionError(f"{error.function_name}() is given {error.actual_type}, not {expected}") from error
    except RecursionError as error:
        raise ExpressionError("is applied to a value that is nested too deeply") from error
    except (ValueError, TypeError, ArithmeticError) as error:
        raise ExpressionError(f"cannot be evaluated: {_first_line(error)}") from error
    return found


@lru_cache(maxsize=4_096)
def _fault(expression: str) -> str | None:
    try:
        parsed = _parsed(expression)
    except RecursionError:
        return f"is nested deeper than {MAX_DEPTH}"
    except (JMESPathError, ValueError) as error:
        return f"is not a JMESPath: {_first_line(error)}"
    return f"is nested deeper than {MAX_DEPTH}" if _is_deep(parsed) else None


def _parsed(expression: str) -> Any:
    return jmespath.compile(expression).parsed


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _is_deep(parsed: Any) -> bool:
    """Whether an expression, literals included, is nested too deeply; a chain of pipes counts as nesting."""
    level: list[Any] = [parsed]
    for _ in range(2 * MAX_DEPTH):  # a node and the list of its children are two levels
        level = [part for node in level for part in _within(node)]
        if not level:
            return False
    return True


def _within(node: Any) -> Collection[Any]:
    if isinstance(node, dict):
        return list(node.values())
    return node if isinstance(node, list) else ()


def _size(value: Any, most: int) -> int:
    """Return the size of a value in characters, or some number above `most`; shared parts count each time."""
    size = 0
    for part in parts_of(value):
        if isinstance(part, str):
            size += len(part)
        elif isinstance(part, dict | list):
            size += NODE_CHARACTERS * (1 + len(part)) + (sum(map(len, part)) if isinstance(part, dict) else 0)
        else:
            size += NODE_CHARACTERS
        if size > most:
            break
    return size


class _Interpreter(TreeInterpreter):
    """Evaluates a parsed expression; work is counted before it is done."""

    def __init__(self, allowance: Allowance) -> None:
        super().__init__(Options(custom_functions=_Functions(allowance)))
        self._left = allowance

    def visit(self, node: Any, *args: Any, **kwargs: Any) -> Any:
        self._left.spend(1)
        return super().visit(node, *args, **kwargs)

    def visit_flatten(self, node: Any, value: Any) -> Any:
        base = self.visit(node["children"][0], value)
        if isinstance(base, list):
            self._left.spend(sum(len(item) if isinstance(item, list) else 1 for item in base))
        # The base was evaluated above, and must not be evaluated, or counted, again.
        again: Any = {**node, "children": [_IDENTITY]}
        return super().visit_flatten(again, base)

    def visit_slice(self, node: Any, value: Any) -> Any:
        self._left.spend(len(value) if isinstance(value, list) else 0)
        return super().visit_slice(node, value)

    def visit_comparator(self, node: Any, value: Any) -> Any:
        sides = [self.visit(child, value) for child in node["children"]]
        left, right = sides
        # A comparison ends with the shorter side, or at the first difference.
        if type(left) is type(right) and isinstance(left, str | list | dict):
            self._left.walk(left if len(left) <= len(right) else right)
        literals = [{"type": "literal", "value": side, "children": []} for side in sides]
        again: Any = {**node, "children": literals}
        return super().visit_comparator(again, value)


def _rounded(number: float, *digits: float) -> tuple[Decimal, int]:
    """Return a number with so many digits after the point, and their count."""
    count = digits[0] if digits else 0
    if len(digits) > 1 or count not in range(MAX_DIGITS + 1):
        raise ValueError(f"takes a number and at most one count of digits, from 0 to {MAX_DIGITS}")
    # By its text: the float 2.675 is a little less than that, and half would go down.
    return Decimal(str(number)).quantize(Decimal(1).scaleb(-int(count)), ROUND_HALF_UP), int(count)


class _Functions(Functions):
    """JMESPath's functions; the size of their arguments is counted first."""

    def __init__(self, allowance: Allowance) -> None:
        self._left = allowance

    def call_function(self, function_name: Any, resolved_args: Any) -> Any:
        for given in resolved_args:
            if function_name not in SHALLOW:
                self._left.walk(given)
            elif isinstance(given, list | dict):
                self._left.spend(len(given))
        if function_name == "join" and [*map(type, resolved_args)] == [str, list]:
            separator, parts = resolved_args
            self._left.spend(len(separator) * len(parts) // CHARACTERS_PER_WORK)
        return super().call_function(function_name, resolved_args)

    @signature({"types": ["number"], "variadic": True})
    def _func_round(self, number: float, *digits: float) -> float:
        """Return a number with so many digits after the point, none if there is no second argument; half goes up."""
        rounded, count = _rounded(number, *digits)
        return float(rounded) if count else int(rounded)

    @signature({"types": ["number"], "variadic": True})
    def _func_format_number(self, number: float, *digits: float) -> str:
        """Return a number, rounded likewise, as text with a comma between thousands: `1,234.50`."""
        return f"{_rounded(number, *digits)[0]:,}"

    @signature({"types": ["array"]}, {"types": ["expref"]})
    def _func_group_by(self, items: list[Any], key: Any) -> dict[str, list[Any]]:
        """Return value of the key -> the items that have it, in order; a key that is no text is written as JSON."""
        groups: dict[str, list[Any]] = {}
        for item in items:
            found = key.visit(key.expression, item)
            name = found if isinstance(found, str) else canonical_json(found).decode()
            groups.setdefault(name, []).append(item)
        return groups

    @signature({"types": ["array"]})
    def _func_unique(self, items: list[Any]) -> list[Any]:
        """Return the items without those that equal an earlier one."""
        found: dict[bytes, Any] = {}
        for item in items:
            found.setdefault(canonical_json(item), item)
        return list(found.values())


FUNCTIONS = frozenset(_Functions.FUNCTION_TABLE)
"""The functions of JMESPath and ours: `format_number`, `group_by`, `round` and `unique`."""
