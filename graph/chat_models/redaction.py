"""Redaction of keys in text for records, screens and logs; servers' errors quote the requests."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import BaseModel, SecretStr

MASK = "[key]"
MIN_CHARACTERS = 8
"""Shorter values are not treated as keys, since redacting them would garble the text."""

_NAMES = re.compile(r"(?i)(key|token|secret|password|credentials?|authorization|cookie)$")
_SPACE = re.compile(r"[\s\x00-\x1f]+")
_SENT_ALONG = re.compile(r"(?i)(headers|query)$")
"""Options whose values all count as secrets, since gateways choose the names."""

_SHAPES = re.compile(
    r"\bsk-[\w*-]{6,}"
    r"|(?i:(?<=bearer )|(?<=basic ))[\w.~+/=*-]{8,}"
    r"|(?i:(?<=key=)|(?<=token=)|(?<=secret=)|(?<=password=))[^&\s\"']+"
    r"|(?<=://)[^/@\s]+(?=@)"
)


def without_secrets(text: str, secrets: Iterable[str] = ()) -> str:
    """Return the text without the given secrets, those in the environment, and anything shaped like a key.

    >>> without_secrets("Incorrect API key provided: sk-proj-1234567890")
    'Incorrect API key provided: [key]'
    """
    of_environment = (value for name, value in os.environ.items() if _NAMES.search(name))
    known = {value for value in (*secrets, *of_environment) if len(value) >= MIN_CHARACTERS}
    for value in sorted(known, key=len, reverse=True):  # a key may contain another one
        text = text.replace(value, MASK)
    return _SHAPES.sub(MASK, text)


def secrets_of(value: Any) -> frozenset[str]:
    """Return all secrets in a chat model, setting or option, and each word of them.

    Words count separately because errors quote line breaks in escaped form, and a scheme may precede a token.
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
            # Every value inside headers or a query is a secret, whatever it is called.
            yield from _secrets_in(item, name if _SENT_ALONG.search(name) else str(key))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _secrets_in(item, name)
    elif isinstance(value, BaseModel):
        for field in type(value).model_fields:
            yield from _secrets_in(getattr(value, field, None), field)
