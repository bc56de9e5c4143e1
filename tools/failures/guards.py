"""What usually guards against an exception: a table, no understanding of the code."""

import re

_GUARDS: tuple[tuple[str, str, str], ...] = (
    ("StatisticsError", "", "empty data: test that there is a value, and decide what holds when there is none"),
    ("ZeroDivisionError", "", "a divisor of zero: test it before, and decide what holds when it is zero"),
    (
        "KeyError",
        "",
        "a missing key: test that it is there, or add the entry, or take .get with a default that is right",
    ),
    ("IndexError", "", "a sequence that is too short: test its length before"),
    ("StopIteration", "", "an empty iterator: give next() a default that is right"),
    (r"(?:Type|Attribute)Error", "None(?:Type)?", "None: find out where it comes from, and test for it before"),
    ("AttributeError", "", "an object of another type: test what it is before"),
    ("TypeError", "", "a value of another type: convert it or refuse it where it comes in"),
    (
        r"Unicode\w*Error",
        "",
        "bytes in another encoding: name the encoding, and decide what holds where it does not fit",
    ),
    (r"ValueError|\w*(?:Decode|Validation)Error", "", "a value that cannot be read: check it where it comes in"),
    (r"FileNotFoundError|NotADirectoryError|PermissionError", "", "a file that cannot be used: check it at the start"),
    (r"Connection\w*|\w*Timeout\w*|gaierror", "", "an answer that does not come: set a timeout, try a few times, stop"),
    ("RecursionError", "", "a structure without end: bound its depth"),
    ("MemoryError", "", "an input that is too large: bound its size where it comes in"),
)
"""Class name and message as patterns, and what to guard against; the first that fits counts."""


def guard_against(exception: str, message: str) -> str:
    """Return what to guard against, in words that follow "guard it against".

    >>> guard_against("TypeError", "'NoneType' object is not subscriptable")
    'None: find out where it comes from, and test for it before'
    """
    name = exception.rsplit(".", 1)[-1]
    for exceptions, words, guard in _GUARDS:
        if re.fullmatch(exceptions, name) and re.search(words, message):
            return guard
    return f"{name}: decide what holds when it is raised, and answer that instead of failing"
