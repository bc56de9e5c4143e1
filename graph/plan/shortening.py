"""Messages of bounded length that keep their reasons: values in them are shortened, reasons never are."""

from collections.abc import Sequence
from typing import Any

from jsonschema.exceptions import ValidationError

VALUE_CHARACTERS = 120
MESSAGE_CHARACTERS = 1_000
MOST_REASONS = 3


def shortened(text: str, most: int = MESSAGE_CHARACTERS) -> str:
    """Return the text, its middle left out if it is longer than `most`: reasons stand at either end.

    >>> shortened("abcdefghij", 5)
    'ab…ij'
    """
    end = (most - 1) // 2
    return text if len(text) <= most else f"{text[: most - 1 - end]}…{text[len(text) - end :]}"


def value_in_words(value: Any, most: int = VALUE_CHARACTERS) -> str:
    """Return a value as Python writes it, or its beginning and how long it is.

    >>> value_in_words("a" * 200, 10)
    "'aaaaaaaaa… (202 characters)"
    """
    words = repr(value)
    return words if len(words) <= most else f"{words[:most]}… ({len(words)} characters)"


def joined_messages(messages: Sequence[str], most: int = MESSAGE_CHARACTERS) -> str:
    """Return messages as one, whole ones only but for the first, and how many there are beyond it.

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


def misfit_in_words(error: ValidationError) -> str:
    """Return why a value does not fit its schema: the value and what the schema lists are shortened."""
    message = error.message
    for value in (error.instance, error.validator_value):
        words = repr(value)
        if len(words) > VALUE_CHARACTERS:
            message = message.replace(words, value_in_words(value))
    within = sorted({_reason(part) for part in error.context or ()})
    if within:
        more = f"; and {len(within) - MOST_REASONS} more" if len(within) > MOST_REASONS else ""
        message = f"{message} ({'; '.join(within[:MOST_REASONS])}{more})"
    return shortened(message)


def _reason(error: ValidationError) -> str:
    place = "".join(f"[{part!r}]" for part in error.relative_path)
    words = repr(error.instance)
    return shortened(f"{place} {error.message.replace(words, 'it')}".strip(), MESSAGE_CHARACTERS // 5)
