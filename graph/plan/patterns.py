"""Regular expressions that take time in proportion to the text, whatever they are: those of RE2.

Python's own take time without end for some texts, and nothing can stop them.
"""

import re
from functools import lru_cache
from typing import Any

import re2

from graph.plan.work import spend

MOST_CHARACTERS = 100_000
"""How much of a text `found_in` and `all_in` look through, and how long a text may be that has to match."""
LONGEST = 1_000
"""How many characters a pattern may have."""
MOST_BYTES = 1_000_000
"""How much memory a pattern may take: it bounds what RE2 makes of counted repetitions."""
_STEPS = 4_000
"""How many instructions of a pattern, times characters of a text, count as one step of work."""
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|.)", re.DOTALL)


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
    found = _for(pattern, text).search(text[:MOST_CHARACTERS])
    return None if found is None else str(found[0])


def all_in(pattern: str, text: str) -> list[str]:
    """Return all parts of a text, or of its beginning, that a usable pattern matches, from left to right.

    >>> all_in("[0-9]+", "of 40 and 2")
    ['40', '2']
    """
    return [str(found[0]) for found in _for(pattern, text).finditer(text[:MOST_CHARACTERS])]


def holds(pattern: str, text: str) -> bool:
    """Whether a usable pattern matches somewhere in the whole of a text; one that is too long to tell does not hold.

    >>> holds("^[a-z]+$", "abc"), holds("^[a-z]+$", "a" * MOST_CHARACTERS + "!")
    (True, False)
    """
    return len(text) <= MOST_CHARACTERS and _is_clean(text) and _for(pattern, text).search(text) is not None


def is_whole(pattern: str, text: str) -> bool:
    """Whether a usable pattern matches the whole of a text, line ends included; one that is too long does not.

    >>> is_whole("a|ab", "ab"), is_whole("a", "ab")
    (True, False)
    """
    return len(text) <= MOST_CHARACTERS and _is_clean(text) and _for(whole(pattern), text).fullmatch(text) is not None


def whole(pattern: str) -> str:
    """Return the pattern as `is_whole` uses it: `.` stands for line ends too."""
    return f"(?s:{pattern})"


def _for(pattern: str, text: str) -> Any:
    """Return a usable pattern, compiled, and count what looking through the text takes at worst."""
    found = _compiled(pattern)
    spend(1 + found.programsize * min(len(text), MOST_CHARACTERS) // _STEPS)
    return found


def _is_clean(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = MOST_BYTES
    return re2.compile(_ESCAPE.sub(_spelt, pattern), options)


def _spelt(escape: re.Match[str]) -> str:
    """Return an escape as RE2 spells it: JSON Schema's `\\u4e00` is its `\\x{4e00}`."""
    return f"\\x{{{escape[1]}}}" if escape[1] else escape[0]
