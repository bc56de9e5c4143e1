"""The kinds of steps, each named after the field that determines it."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, get_args

StepKind = Literal["tool", "ask", "gate", "refine", "gather", "model"]
KINDS: tuple[StepKind, ...] = get_args(StepKind)
"""In order of precedence; a step without any of the other fields is a model step."""
NAMING: tuple[StepKind, ...] = tuple(kind for kind in KINDS if kind != "model")
"""The kinds with a field of their own."""


def named_kinds(fields: Mapping[str, Any]) -> list[StepKind]:
    """Return the kinds that a step's fields name, empty for a model step; false and null count as absent.

    >>> named_kinds({"id": "a", "tool": "search", "refine": False})
    ['tool']
    """
    return list(_named(fields))


def kind_of(fields: Mapping[str, Any]) -> StepKind:
    """Return the kind of a step with these fields.

    >>> kind_of({"id": "a", "ask": "Which city?"}), kind_of({"id": "b"})
    ('ask', 'model')
    """
    return next(_named(fields), "model")


def _named(fields: Mapping[str, Any]) -> Iterator[StepKind]:
    for kind in NAMING:
        if fields.get(kind) is not None and fields[kind] is not False:
            yield kind
