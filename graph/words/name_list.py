"""Names and numbers in a sentence."""

from collections.abc import Collection, Sequence
from difflib import get_close_matches

LONGEST_NAME = 100
"""Number of characters of a name up to which it is compared with others."""


def listed(names: Sequence[str], most: int = 8) -> str:
    """Return the names for a sentence, cut after `most`.

    >>> listed(["a", "b"])
    'a, b'
    """
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def there_are(names: Sequence[str]) -> str:
    """Return which names are known, after one that is not.

    >>> there_are(["a", "b"]), there_are([])
    ('there are a, b', 'there are none')
    """
    return f"there are {listed(names) or 'none'}"


def enumerated(names: Sequence[str], last: str = "and") -> str:
    """Return all names for a sentence, with a word before the last one.

    >>> enumerated(["a"]), enumerated(["a", "b", "c"], "or")
    ('a', 'a, b or c')
    """
    return f" {last} ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def counted(number: int, one: str, several: str | None = None) -> str:
    """Return a number of things; `several` is their name if it is not `one` with an s.

    >>> counted(1, "step"), counted(2, "step"), counted(2, "verified person", "verified people")
    ('1 step', '2 steps', '2 verified people')
    """
    return f"{number} {one if number == 1 else several or one + 's'}"


def did_you_mean(name: object, known: Collection[str]) -> str:
    """Return the closest known name as a question, or an empty text.

    >>> did_you_mean("serch", ["search", "write"])
    'did you mean search?'
    """
    short, given = [other for other in known if len(other) <= LONGEST_NAME], str(name)
    close = get_close_matches(given, short, 1) if len(given) <= LONGEST_NAME else []
    return f"did you mean {close[0]}?" if close else ""


def right_name(name: object, known: Collection[str]) -> str:
    """Return what to write instead of a name that is not known: the closest one, or one of all, if there are any.

    >>> right_name("stop", ["search", "write"])
    'use one of search, write'
    >>> right_name("stop", [])
    'there are none'
    """
    if not known:
        return there_are([])
    return did_you_mean(name, known) or f"use one of {', '.join(known)}"
