"""Keys taken out of words that go into records, screens and logs: errors of servers quote what they were sent."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import BaseModel, SecretStr

MASK = "[key]"
MIN_CHARACTERS = 8
"""Shorter values are no keys: to take them out would only make words unreadable."""

_NAMES = re.compile(r"(?i)(key|token|secret|password|credentials?|authorization|cookie)$")
_SPACE = re.compile(r"[\s\x00-\x1f]+")
_SENT_ALONG = re.compile(r"(?i)(headers|query)$")
"""Options whose values are all taken for secrets: gateways call theirs what they like."""

_SHAPES = re.compile(
    r"\bsk-[\w*-]{6,}"
    r"|(?i:(?<=bearer )|(?<=basic ))[\w.~+/=*-]{8,}"
    r"|(?i:(?<=key=)|(?<=token=)|(?<=secret=)|(?<=password=))[^&\s\"']+"
    r"|(?<=://)[^/@\s]+(?=@)"
)


def redacted(text: str, secrets: Iterable[str] = ()) -> str:
    """Return the words without the given secrets, without those of the environment, and without what looks like one.

    >>> redacted("Incorrect API key provided: sk-proj-1234567890")
    'Incorrect API key provided: [key]'
    """
    known = {value for value in (*secrets, *_environment()) if len(value) >= MIN_CHARACTERS}
    for value in sorted(known, key=len, reverse=True):
        text = text.replace(value, MASK)
    return _SHAPES.sub(MASK, text)


def secrets_of(value: Any) -> frozenset[str]:
    """Return the secrets that a chat model, a setting or an option holds, wherever in it; their words each too.

    Errors quote what holds a line break in another form than it has, and a scheme may stand before a token.
    """
    return frozenset(part for secret in _secrets_in(value, "") for part in (secret, *_SPACE.split(secret)))


def _secrets_in(value: Any, name: str) -> Iterator[str]:
    if isinstance(value, SecretStr):
        yield value.get_secret_value()
    elif isinstance(value, str):
        if _NAMES.search(name) or _SENT_ALONG.search(name):
            yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _secrets_in(item, name if _SENT_ALONG.search(name) else str(key))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _secrets_in(item, name)
    elif isinstance(value, BaseModel):
        for field in type(value).model_fields:
            yield from _secrets_in(getattr(value, field, None), field)


def _environment() -> Iterator[str]:
    yield from (value for name, value in os.environ.items() if _NAMES.search(name))
