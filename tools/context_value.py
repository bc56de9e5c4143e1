"""A context variable that has a value within a block, and its earlier one afterwards."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Value = TypeVar("Value")


@contextmanager
def set_within(variable: ContextVar[Value], value: Value) -> Iterator[None]:
    """Set a variable for the block."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)
