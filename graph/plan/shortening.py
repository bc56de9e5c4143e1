"""Messages of bounded length: quoted values are shortened, reasons are not."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

VALUE_CHARACTERS = 120
MESSAGE_CHARACTERS = 1_000
MAX_REASONS = 3


def shortened(text: str, most: int = MESSAGE_CHARACTERS) -> str:
    """Return the text, without its middle if it is longer than `most`: messages state reasons at either end.

    >>> shortened("abcdefghij", 5)
    'ab…ij'
    """
    end = (most - 1) // 2
    return text if len(text) <= most else f"{text[: most - 1 - end]}…{text[len(text) - end :]}"


def short_repr(value: Any) -> str:
    """Return the `repr` of a value, or its beginning and its length.

    >>> short_repr(["a"] * 100)[-25:]
    "', 'a',… (500 characters)"
    """
    words = repr(value)
    return words if len(words) <= VALUE_CHARACTERS else f"{words[:VALUE_CHARACTERS]}… ({len(words)} characters)"


def joined_messages(messages: Sequence[str], most: int = MESSAGE_CHARACTERS) -> str:
    """Return as many whole messages as fit, and the number of the others; only the first may be shortened.

    >>> joined_messages(["a is wrong", "b is wrong", "c is wrong"], 22)
    'a is wrong; b is wrong; and 1 more'
    """
    kept: list[str] = []
    for message in messages:
        if kept and sum(map(len, kept)) + 2 * len(kept) + len(message) > most:
            break
        kept.append(shortened(message, most))
    more = len(messages) - len(kept)
    return "; ".join([*kept, f"and {more} more"] if more else kept)


def describe_schema_error(error: "ValidationError") -> str:
    """Return the message of a schema error, with the value and the schema's operand shortened."""
    message = error.message
    for value in (error.instance, error.validator_value):
        message = message.replace(repr(value), short_repr(value))
    within = sorted({_reason(part) for part in error.context})
    if within:
        more = f"; and {len(within) - MAX_REASONS} more" if len(within) > MAX_REASONS else ""
        message = f"{message} ({'; '.join(within[:MAX_REASONS])}{more})"
    return shortened(message)


def _reason(error: "ValidationError") -> str:
    place = "".join(f"[{part!r}]" for part in error.relative_path)
    words = repr(error.instance)
    return shortened(f"{place} {error.message.replace(words, 'it')}".strip(), MESSAGE_CHARACTERS // 5)
