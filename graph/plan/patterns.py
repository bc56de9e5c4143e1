"""Regular expressions with RE2, which matches in linear time.

Some patterns take Python's `re` unbounded time, and a match under way cannot be interrupted
(docs/decisions/0016-regular-expressions.md).
"""

import re
from functools import lru_cache
from typing import Any

import re2

from planner_executor.graph.plain_text.sanitize import is_utf8
from planner_executor.graph.plan.work import spend

MAX_CHARACTERS = 100_000
"""`first_match` and `all_matches` search this many characters; `has_match` and `full_match` refuse longer texts."""
MAX_LENGTH = 1_000
"""Limit of a pattern's length, in characters."""
MAX_BYTES = 1_000_000
"""Memory limit of a compiled pattern, in bytes: counted repetitions expand."""
_STEPS = 4_000
"""Instructions of a pattern times characters of a text that count as one step of work."""
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|.)", re.DOTALL)


def pattern_fault(pattern: str) -> str | None:
    """Return why a pattern cannot be used, or None if it can.

    >>> pattern_fault("^[0-9]+$"), pattern_fault("(?=a)")
    (None, "'(?=a)' is not a regular expression of RE2: invalid perl operator: (?=")
    """
    if len(pattern) > MAX_LENGTH:
        return f"the pattern is longer than {MAX_LENGTH} characters"
    try:
        _compiled(pattern)
    except UnicodeEncodeError:
        return f"{pattern!r} contains a lone surrogate"
    except re2.error as error:
        return f"{pattern!r} is not a regular expression of RE2: {error.args[0].decode(errors='replace')}"
    return None


def first_match(pattern: str, text: str) -> str | None:
    """Return the first match of a usable pattern in the beginning of a text, None if there is no match.

    >>> first_match("[0-9]+", "of 40 and 2"), first_match("x", "of 40 and 2")
    ('40', None)
    """
    found = _for(pattern, text).search(text[:MAX_CHARACTERS])
    return None if found is None else str(found[0])


def all_matches(pattern: str, text: str) -> list[str]:
    """Return all matches of a usable pattern in the beginning of a text, from left to right.

    >>> all_matches("[0-9]+", "of 40 and 2")
    ['40', '2']
    """
    return [str(found[0]) for found in _for(pattern, text).finditer(text[:MAX_CHARACTERS])]


def has_match(pattern: str, text: str) -> bool:
    """Whether a usable pattern matches anywhere in a text; false for texts that are too long.

    >>> has_match("^[a-z]+$", "abc"), has_match("^[a-z]+$", "a" * MAX_CHARACTERS + "!")
    (True, False)
    """
    return is_searchable(text) and _for(pattern, text).search(text) is not None


def is_match(pattern: str, text: str) -> bool:
    """Whether a pattern matches anywhere in a text; an unusable one matches nothing."""
    return pattern_fault(pattern) is None and has_match(pattern, text)


def full_match(pattern: str, text: str) -> bool:
    """Whether a usable pattern matches a whole text, line ends included; false for texts that are too long.

    >>> full_match("a|ab", "ab"), full_match("a", "ab")
    (True, False)
    """
    return is_searchable(text) and _for(dotall(pattern), text).fullmatch(text) is not None


def is_searchable(text: str) -> bool:
    """Whether `has_match` and `full_match` can judge a text: it is not too long, and holds no lone surrogate."""
    return len(text) <= MAX_CHARACTERS and is_utf8(text)


def dotall(pattern: str) -> str:
    """Return the pattern as `full_match` uses it: `.` matches line ends too."""
    return f"(?s:{pattern})"


def _for(pattern: str, text: str) -> Any:
    """Return a usable pattern, compiled, and count the worst-case work of searching the text."""
    found = _compiled(pattern)
    spend(1 + found.programsize * min(len(text), MAX_CHARACTERS) // _STEPS)
    return found


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> Any:
    options = re2.Options()
    # RE2 would write what is wrong with a pattern from outside to standard error.
    options.log_errors = False
    options.max_mem = MAX_BYTES
    return re2.compile(_ESCAPE.sub(_in_re2_syntax, pattern), options)


def _in_re2_syntax(escape: re.Match[str]) -> str:
    """Return an escape in RE2's notation: JSON Schema's `\\u4e00` becomes `\\x{4e00}`."""
    return f"\\x{{{escape[1]}}}" if escape[1] else escape[0]
