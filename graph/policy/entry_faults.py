"""What is wrong with single entries of a policy, in the words of its messages."""

from collections.abc import Sequence
from typing import Any, TypeGuard

from planner_executor.graph.plan.json_values import is_number
from planner_executor.graph.words.name_list import right_name

LARGEST = 1e300
"""Bound of numbers in a policy; a larger integer is no float."""


def unknown_entry(known: Sequence[str], name: object) -> str:
    """Return the fault of an entry with another name than the known ones."""
    return f"is unknown; {right_name(name, known)}"


def not_one_of(allowed: Sequence[str], value: Any) -> str:
    """Return the fault of a value other than the allowed ones."""
    return f"is {value!r}; it must be one of {', '.join(allowed)}"


def are_texts(value: Any) -> bool:
    """Whether a value is a non-empty list of texts that say something."""
    return isinstance(value, list) and bool(value) and all(isinstance(item, str) and item.strip() for item in value)


def is_finite(value: Any) -> TypeGuard[float]:
    """Whether a value is a number that a policy can hold: neither infinite nor NaN, nor too large for a float."""
    return is_number(value) and value == value and abs(value) < LARGEST
