"""Two texts line by line: what was taken out, and what was put in."""

from collections.abc import Iterator
from difflib import unified_diff

MOST_LINES = 5_000
"""Lines of a text that are compared: the time grows with the square of their number."""
MOST_SHOWN = 200


def changed_lines(before: str, now: str) -> Iterator[str]:
    """Yield the lines in which two texts differ, with `-` or `+` before them and two lines around; none if they do not.

    >>> list(changed_lines("a\\nb", "a\\nc"))
    ['  a', '- b', '+ c']
    """
    was, has = before.splitlines(), now.splitlines()
    if max(len(was), len(has)) > MOST_LINES:
        yield from ["they are too long to be compared here"] if before != now else []
        return
    # The first two lines are the names of the files, of which there are none.
    found = [line for line in unified_diff(was, has, n=2, lineterm="") if not line.startswith("@@")][2:]
    yield from (f"{line[0]} {line[1:]}" for line in found[:MOST_SHOWN])
    if len(found) > MOST_SHOWN:
        yield f"and {len(found) - MOST_SHOWN} more lines"
