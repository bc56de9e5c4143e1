"""Points in time on the command line."""

import re
from collections.abc import Mapping
from datetime import datetime

import typer

SECONDS: Mapping[str, int] = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


def moment(words: str, now: float, option: str) -> float:
    """Return a point in time, in Unix seconds: a span before `now`, or a local date with an optional time.

    >>> moment("2h", 10_000.0, "--since")
    2800.0

    Raises:
        typer.BadParameter: `words` is neither.
    """
    if span := re.fullmatch(r"(\d{1,6})([smhdw])", words.strip()):
        return now - int(span[1]) * SECONDS[span[2]]
    try:
        return datetime.fromisoformat(words.strip()).timestamp()
    except (ValueError, OverflowError, OSError):
        raise typer.BadParameter(f"{words!r} is not a time; write 24h, 7d or 2026-11-01", param_hint=option) from None
