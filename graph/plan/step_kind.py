"""The kinds of steps: each is named by the field that makes a step what it is."""

from collections.abc import Mapping
from typing import Any, Literal, get_args

StepKind = Literal["tool", "ask", "gate", "refine", "gather", "model"]
KINDS: tuple[StepKind, ...] = get_args(StepKind)
"""In the order in which they are looked for; a step without any of the other fields is done by a model."""
NAMING: tuple[StepKind, ...] = tuple(kind for kind in KINDS if kind != "model")
"""Those that are named by a field."""


def named_kinds(fields: Mapping[str, Any]) -> list[StepKind]:
    """Return the kinds that a step's fields name, none for a model's step; false and null count as absent.

    >>> named_kinds({"id": "a", "tool": "search", "refine": False})
    ['tool']
    """
    return [kind for kind in NAMING if fields.get(kind) is not None and fields[kind] is not False]


def kind_of(fields: Mapping[str, Any]) -> StepKind:
    """Return the kind of a step with these fields.

    >>> kind_of({"id": "a", "ask": "Which city?"}), kind_of({"id": "b"})
    ('ask', 'model')
    """
    return next(iter(named_kinds(fields)), "model")
