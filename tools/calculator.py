"""Tool `calculator`: arithmetic, and nothing else."""

import ast
import math
import operator
import re
from collections.abc import Callable
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import Field
from simpleeval import InvalidExpression, SimpleEval

from planner_executor.tools.declaration import ToolArgs, declare
from planner_executor.tools.errors import InputRefused
from planner_executor.tools.url_display import shortened

Number = int | float

LONGEST_EXPRESSION = 500
MOST_BITS = 4096
_MOST_DIGITS_ROUNDED = 300
_EXACT_FLOAT = 2**53
_TOKEN = re.compile(r"(?P<number>(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[^\W\d]\w*)|(?P<sign>[-+*/%(), ])")


class TooLargeError(ArithmeticError):
    """A number on the way to the result has more than 4096 bits."""


class CalculatorArgs(ToolArgs):
    """Arguments of `calculator`."""

    expression: str = Field(
        min_length=1,
        max_length=LONGEST_EXPRESSION,
        description="arithmetic with + - * / // % ** ( ) and abs, round, min, max, sqrt; for example '(12 + 4) * 3'",
    )


def calculator() -> BaseTool:
    """Return the tool."""
    return StructuredTool.from_function(
        func=compute,
        name="calculator",
        description="Compute an arithmetic expression exactly. The result is a number.",
        args_schema=CalculatorArgs,
        metadata=declare("read", idempotent=True, timeout_s=5, trusted=True, free_args=("expression",)),
    )


def compute(expression: str) -> Number:
    """Return the value of an arithmetic expression; a whole number as an integer.

    Raises:
        InputRefused: It is not arithmetic, has no value, or grows too large.

    >>> compute("(12 + 4) * 3"), compute("7 / 2"), compute("sqrt(2304)")
    (48, 3.5, 48)
    """
    expression = " ".join(expression.split())
    _check_symbols(expression)
    try:
        value = SimpleEval(operators=_OPERATORS, functions=_FUNCTIONS, names={}).eval(expression)
    except (SyntaxError, InvalidExpression, TypeError, RecursionError, MemoryError) as error:
        raise _refusal(expression, f"not a complete arithmetic expression ({_error_text(error)})") from error
    except ZeroDivisionError as error:
        raise _refusal(expression, "division by zero") from error
    except OverflowError as error:
        raise _refusal(expression, "a number on the way is too large") from error
    except (ArithmeticError, ValueError) as error:
        raise _refusal(expression, _error_text(error)) from error
    return _plain(value, expression)


def _check_symbols(expression: str) -> None:
    """Let only numbers, operators and our functions reach the parser."""
    position = 0
    while position < len(expression):
        token = _TOKEN.match(expression, position)
        if token is None:
            hint = "; write ** for a power" if expression[position] == "^" else ""
            raise _refusal(expression, f"{expression[position]!r} is not allowed{hint}")
        if token["name"] and token["name"] not in _FUNCTIONS:
            known = ", ".join(_FUNCTIONS)
            raise _refusal(expression, f"the name {token['name']!r} is not allowed; functions are {known}")
        position = token.end()


def _plain(value: object, expression: str) -> Number:
    if isinstance(value, float) and math.isfinite(value):
        # From 2**53 on a float stands for several integers, and must not look like an exact one.
        return int(value) if value.is_integer() and abs(value) < _EXACT_FLOAT else value
    if isinstance(value, int):
        return value
    raise _refusal(expression, "the result is not a real, finite number")


def _refusal(expression: str, reason: str) -> InputRefused:
    return InputRefused(f"cannot compute {shortened(expression, 80)!r}", reason)


def _error_text(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _power(base: Number, exponent: Number) -> Number:
    # Before it is computed, which may take for ever. The estimate is up to twice the bits (2 has two); `_bounded` is
    # exact.
    if isinstance(base, int) and isinstance(exponent, int) and base.bit_length() * abs(exponent) > MOST_BITS * 2:
        raise TooLargeError("the power is too large")
    result: Number = base**exponent
    return result


def _divide(left: Number, right: Number) -> Number:
    """Divide; two integers exactly, if there is no remainder."""
    if isinstance(left, int) and isinstance(right, int) and right and left % right == 0:
        return left // right
    return left / right


def _round(value: Number, digits: int = 0) -> Number:
    # To round an integer Python computes the power of ten.
    if abs(digits) > _MOST_DIGITS_ROUNDED:
        raise TooLargeError(f"round takes at most {_MOST_DIGITS_ROUNDED} digits")
    return round(value, digits)


def _bounded(operation: Callable[..., Any]) -> Callable[..., Any]:
    """Return the operation, refusing results that would make the next one slow."""

    def bounded(*numbers: Number) -> Any:
        result = operation(*numbers)
        if isinstance(result, int) and result.bit_length() > MOST_BITS:
            raise TooLargeError("a number on the way is too large")
        return result

    return bounded


_OPERATORS: dict[type[ast.operator] | type[ast.unaryop], Callable[..., Any]] = {
    ast.Add: _bounded(operator.add),
    ast.Sub: _bounded(operator.sub),
    ast.Mult: _bounded(operator.mul),
    ast.Div: _bounded(_divide),
    ast.FloorDiv: _bounded(operator.floordiv),
    ast.Mod: _bounded(operator.mod),
    ast.Pow: _bounded(_power),
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "round": _round,
    "min": min,
    "max": max,
    "sqrt": math.sqrt,
}
