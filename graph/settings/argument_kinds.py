"""Whether an argument is of its annotated type; nothing is imported for it that the annotation alone would need."""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from planner_executor.graph.plan.json_values import long_integer_fault
from planner_executor.graph.record.person import Person

Fits = Callable[[Any], bool]


class Kind(NamedTuple):
    """A part of an annotation: which values it admits, and how they are called."""

    fits: Fits
    noun: str


def kind_fault(name: str, annotation: str, value: Any) -> str | None:
    """Return why a value is not of its annotated type, or is one that no database takes; None if it may be used.

    >>> kind_fault("tags", "Sequence[str]", "nightly")
    'give a list of texts, got str'
    """
    kinds = kinds_of(annotation)
    if kinds and not any(kind.fits(value) for kind in kinds):
        nouns = dict.fromkeys(_noun(name, kind) for kind in kinds if kind is not NOTHING)
        return f"give {' or '.join(nouns)}, got {type(value).__name__}"
    # What has no kind is checked where it is kept.
    return long_integer_fault(value) if kinds and isinstance(value, int) else None


def kinds_of(annotation: str) -> list[Kind]:
    """Return the kinds of values that an annotation admits; none if it admits any.

    >>> [kind.noun for kind in kinds_of("str | None")]
    ['text', 'None']
    """
    parts = annotation.split(" | ")
    return [] if ANYTHING & {*parts} else [KINDS[part] for part in parts]


def _noun(name: str, kind: Kind) -> str:
    return "a run by its id or its thread" if kind is _TEXT and name == "run" else kind.noun


def _is(*types: type) -> Fits:
    # A bool is an int to Python, and nobody who writes `limit=True` means 1.
    return lambda value: isinstance(value, types) and (bool in types or not isinstance(value, bool))


def _is_named(name: str) -> Fits:
    return lambda value: any(one.__name__ == name for one in type(value).__mro__)


def _each(fits: Fits) -> Fits:
    # A text is a sequence of texts: `constraints="be kind"` would be seven constraints of one letter each.
    return lambda value: (
        isinstance(value, Collection) and not isinstance(value, str | Mapping) and all(map(fits, value))
    )


def _by_text(fits: Fits) -> Fits:
    return lambda value: isinstance(value, Mapping) and all(map(_TEXT.fits, value)) and all(map(fits, value.values()))


def _is_pair(value: Any) -> bool:
    return (
        isinstance(value, Sequence) and not isinstance(value, str) and len(value) == 2 and all(map(_TEXT.fits, value))
    )


def _any(_: Any) -> bool:
    return True


NOTHING = Kind(lambda value: value is None, "None")
_TEXT = Kind(_is(str), "text")
_TEXTS = Kind(_each(_TEXT.fits), "a list of texts")
_CALLED = Kind(callable, "a function")
ANYTHING = {
    "Any",
    "ApprovalMode",
    "Budget",
    "GivenPacks",
    "Json",
    "KeepCheckpoints",
    "Literal[1]",
    "ModelSpec",
    "Policy",
    "Replan",
}
"""Annotations of values that are checked where they are read."""
KINDS: Mapping[str, Kind] = {
    "None": NOTHING,
    "str": _TEXT,
    "bool": Kind(_is(bool), "True or False"),
    "int": Kind(_is(int), "an integer"),
    "float": Kind(_is(int, float), "a number"),
    "Path": Kind(_is(Path), "a Path"),
    "Person": Kind(_is(Person), "Person(name, roles=[...])"),
    "Batch": Kind(_is_named("Batch"), "a batch that `alike` returned"),
    "Playbook": Kind(_is_named("Playbook"), "a playbook, such as Playbook.load(file)"),
    "SealKey": Kind(_is_named("SealKey"), "a SealKey"),
    "Sequence[str]": _TEXTS,
    "Collection[str]": _TEXTS,
    "tuple[RunStatus, ...]": _TEXTS,
    "Sequence[Any]": Kind(_each(_any), "a list"),
    "Sequence[Observer]": Kind(_each(callable), "a list of functions"),
    "Sequence[Tool]": Kind(_each(_any), "a list of tools"),
    "Sequence[bool]": Kind(_each(_is(bool)), "a list of True and False"),
    "Sequence[tuple[str, str]]": Kind(_each(_is_pair), "a list of pairs of texts"),
    "Mapping[str, Any]": Kind(_by_text(_any), "a dict whose keys are texts"),
    "Mapping[str, ModelSpec]": Kind(_by_text(_any), "a dict of models by name"),
    "Mapping[str, str]": Kind(_by_text(_TEXT.fits), "a dict of texts"),
    "Mapping[str, Mapping[str, Any]]": Kind(_by_text(_by_text(_any)), "a dict of dicts"),
    "RunStatus": _TEXT,
    "RunOrder": _TEXT,
    "WaitingOrder": _TEXT,
    "Adapter": _CALLED,
    "ProgressCallback": _CALLED,
    "Callable[[Report], None]": _CALLED,
}
"""Part of an annotation -> its kind; a new one has to be named here."""
