"""The line of an entry in a TOML text, for messages; `tomllib` does not say it."""

import re

from planner_executor.graph.words.tables import Path

MAX_LINE_LENGTH = 1_000
"""Number of characters of a line that are searched for the name of an entry."""


def line_of(text: str, path: Path) -> int | None:
    r"""Return the line (from 1) of an entry in a TOML text, None if it is not found.

    >>> line_of("[tools.a]\nverdict = 'no'", ("tools", "a", "verdict"))
    2
    """
    table: Path = ()
    best: tuple[int, int] | None = None
    for number, line in enumerate((line[:MAX_LINE_LENGTH] for line in text.splitlines()), 1):
        if header := re.match(r"""\s*\[\[?((?:[^\[\]"']|"[^"]*"|'[^']*')+)\]""", line):
            table = _keys(header[1])
            here = table
        elif entry := re.match(r"""\s*((?:[A-Za-z0-9_\-. \t]|"[^"]*"|'[^']*')+?)\s*=""", line):
            here = (*table, *_keys(entry[1]))
        else:
            continue
        # The deepest entry on the way there; the table is the best answer for an entry that is missing.
        if here == path[: len(here)] and (best is None or len(here) > best[0]):
            best = (len(here), number)
    return best[1] if best else None


def _keys(dotted: str) -> Path:
    found = re.findall(r"""\s*(?:"([^"]*)"|'([^']*)'|([^.\s"']+))\s*\.?""", dotted)
    return tuple(one or two or three for one, two, three in found)
