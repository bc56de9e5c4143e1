"""What a policy allows as the value of an argument."""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote

from pydantic import JsonValue

from graph.plan.canonical import canonical_json
from graph.plan.patterns import is_whole
from graph.policy.hosts import host_of, is_below

LONGEST_PATH = 4_096
"""Longer paths lead nowhere."""


@dataclass(frozen=True)
class Constraint:
    """Bounds of one argument; all that are set must hold, for each item where the value is a list.

    `domains` are hosts of an address or a mail address, with all below them; `within` are folders that a path stays in,
    as it is written: where links lead is the tool's business; `minimum` and `maximum` bound numbers; `one_of` lists
    what is allowed; `pattern` is a regular expression of RE2 for the whole text. Two widen: `untrusted_from` are
    tools whose untrusted results may stand here; `optional` lets it be left out whatever its default is.
    """

    domains: tuple[str, ...] = ()
    within: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    one_of: tuple[JsonValue, ...] = ()
    pattern: str | None = None
    untrusted_from: tuple[str, ...] = ()
    optional: bool | None = None

    def fault(self, value: JsonValue) -> str | None:
        """Return what is wrong with a value, None where it is allowed."""
        if isinstance(value, list):
            return next((fault for fault in map(self.fault, value) if fault), None if value else self.fault(None))
        if self.domains and not any(is_below(host_of(value), domain) for domain in self.domains):
            return f"is at none of {', '.join(self.domains)}"
        if self.within and not any(is_within(value, folder) for folder in self.within):
            return f"is not within {', '.join(self.within)}"
        if self.minimum is not None and not (_is_number(value) and value >= self.minimum):  # type: ignore[operator]
            return f"is not at least {self.minimum:g}"
        if self.maximum is not None and not (_is_number(value) and value <= self.maximum):  # type: ignore[operator]
            return f"is not at most {self.maximum:g}"
        if self.one_of and canonical_json(value) not in map(canonical_json, self.one_of):
            return f"is none of {', '.join(map(str, self.one_of))}"
        if self.pattern is not None and not (isinstance(value, str) and is_whole(self.pattern, value)):
            return f"does not match {self.pattern}"
        return None

    def lets_in(self, sources: tuple[str, ...]) -> bool:
        """Whether untrusted values of all these sources may stand here."""
        return bool(sources) and set(sources) <= set(self.untrusted_from)

    def to_json(self) -> dict[str, Any]:
        """Return what is set."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: list(v) if isinstance(v, tuple) else v for name, v in found.items() if v not in (None, ())}


def faults_of(constraints: Mapping[str, Constraint], args: Mapping[str, JsonValue]) -> list[tuple[str, str]]:
    """Return (argument, what is wrong with its value) for the arguments that are there."""
    found = ((name, constraint.fault(args[name])) for name, constraint in constraints.items() if name in args)
    return [(name, fault) for name, fault in found if fault]


def faults_of_defaults(
    constraints: Mapping[str, Constraint], defaults: Mapping[str, JsonValue]
) -> list[tuple[str, str]]:
    """Return (argument, what is wrong) for arguments that are left out and have defaults that are not allowed."""
    bound = {name: constraint for name, constraint in constraints.items() if not constraint.optional}
    return [
        (name, f"is left out, and its default {to_words(defaults[name])} {fault}")
        for name, fault in faults_of(bound, defaults)
    ]


def to_words(value: JsonValue) -> str:
    """Return a value as JSON, cut where it is long."""
    text = canonical_json(value).decode()
    return text if len(text) <= 80 else f"{text[:79]}…"


def is_within(value: JsonValue, folder: str) -> bool:
    """Whether a path stays in a folder, as it is written and as a tool may read it that decodes it first.

    >>> is_within("reports/a.md", "reports"), is_within("reports/../a.md", "reports"), is_within("/etc", "reports")
    (True, False, False)
    """
    if not isinstance(value, str) or len(value) > LONGEST_PATH or "\0" in value or "\\" in value:
        return False
    return all(_stays(path, folder) for path in (value, *_decoded(value)))


def _stays(path: str, folder: str) -> bool:
    inside, parts = PurePosixPath(folder).parts, PurePosixPath(path).parts
    if path.startswith("/") != folder.startswith("/") or ".." in parts:
        return False
    return parts[: len(inside)] == inside and not (path.startswith("~") and not inside)


def _decoded(path: str) -> list[str]:
    """Return what else a path may be taken for: percent signs decoded once or more, look-alikes as plain letters."""
    found = [path]
    while (once := unquote(found[-1])) != found[-1]:
        found.append(once)
    found.append(unicodedata.normalize("NFKC", found[-1]).replace("\\", "/").replace("\0", ""))
    return found


def _is_number(value: JsonValue) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
