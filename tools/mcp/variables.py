"""Environment variables in a server's configuration: substituted once, with the secrets among them."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

VARIABLE = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
SECRET_NAME = re.compile(
    r"(?:^|[_-]|api|access|private)key|token|secret|passw|credential|auth(?!or(?!i))|cookie|_pat$", re.I
)
SECRET_CHARACTERS = 8
"""Shorter values are not hidden: they would be found in words that have nothing to do with them."""


@dataclass(frozen=True)
class Filled:
    """A configuration with its variables filled in; `missing` are those that are not set, `secrets` what to hide."""

    value: Any
    missing: frozenset[str] = frozenset()
    secrets: frozenset[str] = frozenset()


def fill(value: Any, environment: Mapping[str, str], name: str = "") -> Filled:
    """Return `value` with `${NAME}` and `${NAME:-default}` in its strings filled in, in one pass.

    Args:
        value: JSON; keys stay as they are.
        environment: Name -> value.
        name: The key of `value`: a value is secret if its key or its variable is named like one.
    """
    if isinstance(value, str):
        return _fill_text(value, environment, name)
    if isinstance(value, Mapping):
        parts = {key: fill(item, environment, str(key)) for key, item in value.items()}
        return _joined({key: part.value for key, part in parts.items()}, parts.values())
    if isinstance(value, list | tuple):
        items = [fill(item, environment, name) for item in value]
        return _joined([item.value for item in items], items)
    return Filled(value)


def hide(value: Any, secrets: Iterable[str]) -> Any:
    """Return JSON with each secret replaced by `***`."""
    if isinstance(value, str):
        # The longest first: one may be a part of another, whose rest would be left to read.
        for secret in sorted(secrets, key=len, reverse=True):
            value = value.replace(secret, "***")
        return value
    if isinstance(value, Mapping):
        return {hide(key, secrets): hide(item, secrets) for key, item in value.items()}
    return [hide(item, secrets) for item in value] if isinstance(value, list | tuple) else value


def _fill_text(text: str, environment: Mapping[str, str], name: str) -> Filled:
    missing: set[str] = set()
    secrets: set[str] = set()

    def filled(found: re.Match[str]) -> str:
        variable, default = found[1], found[2]
        value = environment.get(variable, default)
        if value is None:
            missing.add(variable)
            return found[0]
        if SECRET_NAME.search(variable):
            secrets.add(value)
        return str(value)

    whole = VARIABLE.sub(filled, text)
    if SECRET_NAME.search(name):
        # Each word too: of `Bearer ...` a server may repeat the second alone.
        secrets.update((whole, *whole.split()))
    return Filled(whole, frozenset(missing), frozenset(each for each in secrets if len(each) >= SECRET_CHARACTERS))


def _joined(value: Any, parts: Iterable[Filled]) -> Filled:
    parts = list(parts)
    missing = frozenset[str]().union(*(part.missing for part in parts))
    return Filled(value, missing, frozenset[str]().union(*(part.secrets for part in parts)))
