"""Durations as a policy writes them: a number and a unit, such as `90m`, `24h` or `2d`."""

import re
from typing import Any

UNITS_S = {"w": 604_800, "d": 86_400, "h": 3_600, "m": 60, "s": 1}
NAMES = {"w": "week", "d": "day", "h": "hour", "m": "minute", "s": "second"}
A_DURATION = 'must be a duration of at most a year, such as "90m", "24h" or "2d"'
_A_YEAR_S = 366 * 86_400
_DURATION = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,6})?)\s?([wdhms])")


def seconds_in(text: Any) -> float | None:
    """Return a duration in seconds, None if it is invalid or zero.

    >>> seconds_in("24h"), seconds_in("1.5m"), seconds_in("soon"), seconds_in("0h")
    (86400.0, 90.0, None, None)
    """
    found = _DURATION.fullmatch(text) if isinstance(text, str) else None
    return (float(found[1]) * UNITS_S[found[2]] or None) if found else None


def fits_a_year(seconds: float | None) -> bool:
    """Whether a duration, None if it is invalid, is one that a policy may have."""
    return seconds is not None and seconds <= _A_YEAR_S


def written(seconds: float) -> str:
    """Return a duration as a policy writes it, which `seconds_in` reads.

    >>> written(86400.0), written(5400.0), written(0.25)
    ('1d', '90m', '0.25s')
    """
    unit = next((unit for unit, size in UNITS_S.items() if seconds % size == 0), "s")
    # As many decimals as `seconds_in` reads, and never an exponent, which it does not.
    return f"{f'{seconds / UNITS_S[unit]:.6f}'.rstrip('0').rstrip('.')}{unit}"


def in_words(seconds: float) -> str:
    """Return a duration for people.

    >>> in_words(86400.0), in_words(5400.0), in_words(172800.0)
    ('1 day', '90 minutes', '2 days')
    """
    text = written(seconds)
    return f"{text[:-1]} {NAMES[text[-1]]}{'' if text[:-1] == '1' else 's'}"
