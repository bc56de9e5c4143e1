"""The steps of a large plan in folds, so that a drawing has as many nodes as a page has room for.

A fold is a run of steps in the order of their layers. Each step comes after those that it waits for, so that folds wait
for one another in no circle.
"""

from collections.abc import Collection, Sequence
from itertools import groupby
from math import ceil

from planner_executor.graph.plan.schedule import Waits, levels

DRAWN = 200
"""Nodes of a drawing at most; a larger plan is folded."""
FOLDS, LEAST = 50, 8
"""Into how many folds of one size a plan is divided; a smaller one has folds of at most `LEAST` steps."""
FOUND = 45
"""Steps that are drawn by themselves since they match, at most: each may divide a fold in two."""

Folds = tuple[tuple[str, ...], ...]
"""Steps that are drawn as one node each; one of a single step is the step."""


def unfolded(waits: Waits) -> Folds:
    """Return each step by itself."""
    return tuple((step,) for step in waits)


def by_layers(waits: Waits) -> Folds:
    """Return the steps of each layer as folds; many small layers share one.

    >>> by_layers({"a": (), "b": ("a",), "c": ("a",), "d": ("b", "c")})
    (('a',), ('b', 'c'), ('d',))
    """
    level, size = levels(waits), max(LEAST, ceil(len(waits) / FOLDS))
    layers = (list(steps) for _, steps in groupby(sorted(waits, key=level.__getitem__), level.__getitem__))
    folds = [tuple(layer[start : start + size]) for layer in layers for start in range(0, len(layer), size)]
    return tuple(folds) if len(folds) <= 2 * FOLDS else _merged(folds, size)


def _merged(folds: Sequence[tuple[str, ...]], size: int) -> Folds:
    """Return neighbours as one as long as they fit; of two that are left, the steps are more than `size`."""
    found: list[tuple[str, ...]] = []
    for fold in folds:
        if found and len(found[-1]) + len(fold) <= size:
            found[-1] += fold
        else:
            found.append(fold)
    return tuple(found)


def opened(folds: Folds, names: Sequence[str]) -> Folds:
    """Return the folds with those open that begin with these steps, the last ones first, while there is room."""
    room, open_ = DRAWN - len(folds), set[str]()
    by_name = {fold[0]: fold for fold in folds}
    # The last one named was opened last, so it is the one that a person wants to see.
    for fold in (by_name[name] for name in reversed(names) if name in by_name):
        if len(fold) <= room and fold[0] not in open_:
            open_.add(fold[0])
            room -= len(fold)
    return tuple(part for fold in folds for part in (((one,) for one in fold) if fold[0] in open_ else (fold,)))


def around(folds: Folds, found: Collection[str]) -> Folds:
    """Return the folds with these steps by themselves.

    >>> around((("a", "b", "c"),), {"b"})
    (('a',), ('b',), ('c',))
    """
    parts = (
        ((one,) for one in part) if is_found else (part,)
        for fold in folds
        for is_found, part in ((key, tuple(steps)) for key, steps in groupby(fold, lambda one: one in found))
    )
    return tuple(one for part in parts for one in part)


def waits_of(folds: Folds, waits: Waits) -> dict[str, tuple[str, ...]]:
    """Return what each fold waits for; a fold goes by its first step."""
    name = {step: fold[0] for fold in folds for step in fold}
    return {
        fold[0]: tuple(dict.fromkeys(name[one] for step in fold for one in waits[step] if name[one] != fold[0]))
        for fold in folds
    }
