"""Regular expressions that take time in proportion to the text, whatever they are: those of RE2.

Python's own take time without end for some texts, and nothing can stop them.
"""

from functools import lru_cache
from typing import Any

import re2

MOST_CHARACTERS = 100_000
"""How much of a text is looked through."""
LONGEST = 1_000
"""How many characters a pattern may have."""


def pattern_fault(pattern: str) -> str | None:
    """Say why a pattern cannot be used, or None where it can.

    >>> pattern_fault("^[0-9]+$"), pattern_fault("(?=a)")
    (None, "'(?=a)' is no regular expression of RE2: invalid perl operator: (?=")
    """
    if len(pattern) > LONGEST:
        return f"the pattern is longer than {LONGEST} characters"
    try:
        _compiled(pattern)
    except UnicodeEncodeError:
        return f"{pattern!r} holds half a surrogate pair"
    except re2.error as error:
        words = error.args[0] if error.args else "it cannot be read"
        told = words.decode(errors="replace") if isinstance(words, bytes) else words
        return f"{pattern!r} is no regular expression of RE2: {told}"
    return None


def found_in(pattern: str, text: str) -> str | None:
    """Return the first part of a text, or of its beginning, that a usable pattern matches; None where none does.

    >>> found_in("[0-9]+", "of 40 and 2"), found_in("x", "of 40 and 2")
    ('40', None)
    """
    found = _compiled(pattern).search(text[:MOST_CHARACTERS])
    return None if found is None else str(found[0])


def all_in(pattern: str, text: str) -> list[str]:
    """Return all parts of a text, or of its beginning, that a usable pattern matches, from left to right.

    >>> all_in("[0-9]+", "of 40 and 2")
    ['40', '2']
    """
    return [str(found[0]) for found in _compiled(pattern).finditer(text[:MOST_CHARACTERS])]


@lru_cache(maxsize=128)
def _compiled(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    return re2.compile(pattern, options)
