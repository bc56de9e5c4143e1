"""Names and numbers in a sentence."""

from collections.abc import Sequence


def listed(names: Sequence[str], most: int = 8) -> str:
    """Return the names for a sentence, cut after `most`.

    >>> listed(["a", "b"])
    'a, b'
    """
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def counted(number: int, one: str, several: str | None = None) -> str:
    """Return a number of things; `several` is their name if it is not `one` with an s.

    >>> counted(1, "step"), counted(2, "step"), counted(2, "verified person", "verified people")
    ('1 step', '2 steps', '2 verified people')
    """
    return f"{number} {one if number == 1 else several or one + 's'}"
