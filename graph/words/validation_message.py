"""Faults that pydantic found, in words for readers: without its prefixes, its links, and the values."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import ValidationError

_SHOULD = re.compile(r"^(?:Input|String) should ")
PREFIXES = ("Value error, ", "Assertion failed, ")
"""What pydantic puts before the message of a validator of ours."""


def fault_message(fault: Mapping[str, Any]) -> str:
    """Return the message of one entry of `ValidationError.errors()`.

    >>> fault_message({"msg": "Input should be a valid integer, unable to parse string as an integer"})
    'must be a valid integer'
    """
    return _SHOULD.sub("must ", without_prefix(str(fault["msg"]))).split(", unable")[0]


def fault_messages(error: "ValidationError") -> str:
    """Return all faults as `place: message`; values are left out, since they may be keys.

    >>> from pydantic import TypeAdapter, ValidationError
    >>> try:
    ...     TypeAdapter(dict[str, int]).validate_python({"limit": "many"})
    ... except ValidationError as error:
    ...     fault_messages(error)
    'limit: must be a valid integer'
    """
    faults = [(".".join(map(str, fault["loc"])), fault_message(fault)) for fault in error.errors()]
    return "; ".join(f"{place}: {message}" if place else message for place, message in faults)


def without_prefix(message: str) -> str:
    """Return a message without the words that pydantic puts before it.

    >>> without_prefix("Value error, the limit is too high")
    'the limit is too high'
    """
    for prefix in PREFIXES:
        message = message.removeprefix(prefix)
    return message
