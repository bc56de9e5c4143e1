"""Constraints of a policy on the values of arguments."""

import operator
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import PurePosixPath
from typing import Annotated, Any
from urllib.parse import unquote

from pydantic import AfterValidator, Field, JsonValue, Strict

from planner_executor.graph.plan.canonical import canonical_json
from planner_executor.graph.plan.json_values import is_number, json_faults
from planner_executor.graph.plan.patterns import dotall, full_match, pattern_fault
from planner_executor.graph.policy.hosts import host_of, is_below, plain_host
from planner_executor.graph.words.tables import List, Number, Says, Shape, Texts, YesNo, fault

MAX_PATH_LENGTH = 4_096
"""Limit of a path's length, as on Linux; longer paths never match."""


BOUND_WORDS = {"minimum": "at least", "maximum": "at most", "above": "above", "below": "below"}
BOUNDS: Mapping[str, Callable[[Any, Any], bool]] = {
    "minimum": operator.ge,
    "maximum": operator.le,
    "above": operator.gt,
    "below": operator.lt,
}


OPTIONAL = "; `optional = true` in the policy allows null where it means that the argument is left out"


def _hosts(given: tuple[str, ...]) -> tuple[str, ...]:
    if odd := [text for text in given if not plain_host(text)]:
        raise fault(f"contains {odd[0]!r}, which is not a plain host; write one such as example.com")
    return given


def _folders(given: tuple[str, ...]) -> tuple[str, ...]:
    if odd := [text for text in given if not is_within(text, text)]:
        raise fault(f"contains {odd[0]!r}, which cannot contain a path; write a folder without `..`")
    return given


def _values(given: Sequence[Any]) -> tuple[Any, ...]:
    for _, why in json_faults(list(given)):
        raise fault(f"has a value that no argument can have: {why}")
    return tuple(given)


def _usable(given: str) -> str:
    if why := pattern_fault(dotall(given)):
        raise fault(f"cannot be used: {why}")
    return given


Values = Annotated[Sequence[Any], Field(min_length=1), List, Says("must be a non-empty list"), AfterValidator(_values)]
Pattern = Annotated[str, Strict(), Says("must be a regular expression, as text"), AfterValidator(_usable)]


@dataclass(frozen=True)
class Constraint:
    """Bounds of one argument; a value must meet every bound that is set, and so must each item of a list.

    `domains` are allowed hosts of URLs and mail addresses, subdomains included; `within` are folders that a path must
    stay in, as written (resolving links is up to the tool); `minimum` and `maximum` bound numbers, `above` and `below`
    do without the bound itself; `one_of` lists the allowed values; `pattern` is an RE2 expression for the whole text.
    Two fields widen: `untrusted_from` are tools whose untrusted results are accepted; `optional` allows omission
    whatever the default is.
    """

    domains: Annotated[Texts, AfterValidator(_hosts)] = ()
    within: Annotated[Texts, AfterValidator(_folders)] = ()
    minimum: Number | None = None
    maximum: Number | None = None
    above: Number | None = None
    below: Number | None = None
    one_of: Values = ()
    pattern: Pattern | None = None
    untrusted_from: Texts = ()
    optional: YesNo | None = None

    def fault(self, value: JsonValue) -> str | None:
        """Return why a value is not allowed, None if it is."""
        if isinstance(value, list):
            # An empty list has nothing that could meet a bound: it is judged like null.
            return next((fault for fault in map(self.fault, value) if fault), None if value else self.fault(None))
        if self.domains and not any(is_below(host_of(value), domain) for domain in self.domains):
            return f"is not at {' or '.join(self.domains)}"
        if self.within and not any(is_within(value, folder) for folder in self.within):
            return f"is not within {', '.join(self.within)}"
        if fault := self.number_fault(value):
            return fault
        # As JSON: in Python, 1 is equal to true and to 1.0.
        if self.one_of and canonical_json(value) not in map(canonical_json, self.one_of):
            return f"is not one of {', '.join(map(str, self.one_of))}"
        if self.pattern is not None and not (isinstance(value, str) and full_match(self.pattern, value)):
            return f"does not match {self.pattern}"
        return None

    def number_fault(self, value: JsonValue) -> str | None:
        """Return why a value is not allowed by the bounds of numbers, None if it is."""
        bounds = ((word, getattr(self, name), BOUNDS[name]) for name, word in BOUND_WORDS.items())
        for word, bound, met in bounds:
            if bound is not None and not (is_number(value) and met(value, bound)):
                return f"is not {word} {bound:g}"
        return None

    @property
    def bounds_in_words(self) -> list[str]:
        """The bounds of numbers that are set, such as `above 100`."""
        found = ((word, getattr(self, name)) for name, word in BOUND_WORDS.items())
        return [f"{word} {bound:g}" for word, bound in found if bound is not None]

    def admits(self, sources: tuple[str, ...]) -> bool:
        """Whether untrusted values from all these sources are accepted."""
        return bool(sources) and set(sources) <= set(self.untrusted_from)

    def to_json(self) -> dict[str, Any]:
        """Return the constraint as JSON, unset fields left out."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: list(v) if isinstance(v, tuple) else v for name, v in found.items() if v not in (None, ())}


def _bounded(given: Constraint) -> Constraint:
    if given == Constraint():
        raise fault(f"is empty; give some of {', '.join(CONDITIONS)}")
    return given


WIDENING = ("untrusted_from", "optional")
CONDITIONS = tuple(field.name for field in fields(Constraint) if field.name not in WIDENING)
SOME = "must be a table with some of {names}"
Constraints = Annotated[Mapping[str, Annotated[Constraint, Shape(SOME)]], Shape("must be a table of arguments")]
"""Constraints on arguments by name, as a policy or a standing approval states them."""
Conditions = Annotated[
    Mapping[str, Annotated[Constraint, AfterValidator(_bounded), Shape(SOME, without=WIDENING)]],
    Shape("must be a table of arguments"),
]
"""Argument -> condition; one that is met is enough."""


def constraint_faults(constraints: Mapping[str, Constraint], args: Mapping[str, JsonValue]) -> list[tuple[str, str]]:
    """Return (argument, fault) for the given arguments."""
    found = (
        (name, constraint, constraint.fault(args[name])) for name, constraint in constraints.items() if name in args
    )
    return [(name, f"{fault}{_way_out(constraint, args[name])}") for name, constraint, fault in found if fault]


def _way_out(constraint: Constraint, value: JsonValue) -> str:
    """Return what the operator can do about a null that is not listed, as the models of many tools write it."""
    return OPTIONAL if value is None and constraint.one_of and not constraint.optional else ""


def default_faults(constraints: Mapping[str, Constraint], defaults: Mapping[str, JsonValue]) -> list[tuple[str, str]]:
    """Return (argument, fault) for omitted arguments with defaults that are not allowed."""
    bound = {name: constraint for name, constraint in constraints.items() if not constraint.optional}
    return [
        (name, f"is left out, and its default {short_json(defaults[name])} {fault}")
        for name, fault in constraint_faults(bound, defaults)
    ]


def short_json(value: JsonValue) -> str:
    """Return a value as JSON, shortened to 80 characters."""
    text = canonical_json(value).decode()
    return text if len(text) <= 80 else f"{text[:79]}…"


def is_within(value: JsonValue, folder: str) -> bool:
    """Whether a path stays in a folder, both as written and in any form that a tool may decode it to.

    >>> is_within("reports/a.md", "reports"), is_within("reports/../a.md", "reports"), is_within("/etc", "reports")
    (True, False, False)
    """
    if not isinstance(value, str) or len(value) > MAX_PATH_LENGTH or "\0" in value or "\\" in value:
        return False
    return all(_stays(path, folder) for path in readings(value))


def may_be_within(value: str, folder: str) -> bool:
    """Whether any reading of a path is in a folder, also on a disk that does not distinguish case.

    >>> may_be_within("%63ontracts/a", "contracts"), may_be_within("CONTRACTS/a", "contracts")
    (True, True)
    """
    return any(_stays(path.casefold(), folder.casefold()) for path in readings(value))


def _stays(path: str, folder: str) -> bool:
    inside, parts = PurePosixPath(folder).parts, PurePosixPath(path).parts
    # A path with `..` may leave the folder by a link, wherever it seems to lead.
    if path.startswith("/") != folder.startswith("/") or ".." in parts:
        return False
    # In a folder such as `.`, which has no parts, `~` would count as a name, and a tool may take it for a home folder.
    return parts[: len(inside)] == inside and not (path.startswith("~") and not inside)


def readings(path: str) -> list[str]:
    """Return a path as written, percent-decoded repeatedly, and with compatibility characters replaced."""
    found = [path]
    while (once := unquote(found[-1])) != found[-1]:
        found.append(once)
    found.append(unicodedata.normalize("NFKC", found[-1]).replace("\\", "/").replace("\0", ""))
    return found
