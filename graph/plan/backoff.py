"""The wait between attempts, which doubles with each."""

MOST_DOUBLINGS = 64
"""More would not change a wait that is bounded, and a float has no room for a thousand."""


def doubled_s(first_s: float, failed: int, longest_s: float) -> float:
    """Return the seconds before the next attempt after `failed` ones.

    >>> [doubled_s(1.0, failed, 60.0) for failed in (1, 2, 6, 7, 5_000)]
    [1.0, 2.0, 32.0, 60.0, 60.0]
    """
    return min(first_s * 2.0 ** min(failed - 1, MOST_DOUBLINGS), longest_s)
