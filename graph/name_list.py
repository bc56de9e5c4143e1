"""Names in a sentence."""

from collections.abc import Sequence


def listed(names: Sequence[str], most: int = 8) -> str:
    """Return the names for a sentence, cut after `most`.

    >>> listed(["a", "b"])
    'a, b'
    """
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
