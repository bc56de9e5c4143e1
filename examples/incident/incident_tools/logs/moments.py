"""Times in the formats of logs -> a moment in UTC."""

import re
from datetime import UTC, datetime, timedelta

_ISO = re.compile(
    r"(?P<date>\d{4}[-/]\d{2}[-/]\d{2})[T ](?P<time>\d{2}:\d{2}:\d{2})(?:[.,](?P<part>\d{1,9}))?"
    r"\s?(?P<zone>Z|[+-]\d{2}:?\d{2})?",
    re.ASCII,
)
_NGINX = re.compile(
    r"(?P<day>\d{2})/(?P<month>[A-Z][a-z]{2})/(?P<year>\d{4}):(?P<time>\d{2}:\d{2}:\d{2}) (?P<zone>[+-]\d{4})", re.ASCII
)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MILLISECONDS = 10**11
_MICROSECONDS = 10**14
_NANOSECONDS = 10**17


def moment(written: object) -> datetime | None:
    """Parse a time in a log; None if it is not one.

    ISO 8601 (without a zone it counts as UTC), nginx's `15/Sep/2026:10:14:07 +0200`, and numbers since 1970 in seconds
    or their usual parts, told apart by size.

    >>> moment("15/Sep/2026:10:14:07 +0200") == moment("2026-09-15T08:14:07Z") == moment(1789460047000)
    True
    """
    if isinstance(written, int | float) and not isinstance(written, bool):
        return _since_1970(written)
    if not isinstance(written, str):
        return None
    text = written.strip()[:64]
    if match := _ISO.fullmatch(text):
        return _iso(match)
    match = _NGINX.fullmatch(text)
    if match is None or match["month"] not in _MONTHS:
        return None
    month = _MONTHS.index(match["month"]) + 1
    return _utc(f"{match['year']}-{month:02d}-{match['day']}T{match['time']}{match['zone']}")


def leading_moment(text: str) -> tuple[datetime | None, str]:
    """Return the time that a line begins with, in brackets or not, and the rest of it."""
    bare = text.removeprefix("[")
    match = _ISO.match(bare)
    found = _iso(match) if match else None
    if match is None or found is None:
        return None, text
    return found, bare[match.end() :].removeprefix("]").lstrip(" :")


def shown(at: datetime | None) -> str | None:
    """Return a moment as text that sorts in order of time.

    >>> shown(moment("2026-09-15 10:14:07,73 +0200"))
    '2026-09-15T08:14:07.730Z'
    """
    return None if at is None else f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03d}Z"


def _iso(match: re.Match[str]) -> datetime | None:
    date, part, zone = match["date"].replace("/", "-"), (match["part"] or "0")[:6].ljust(6, "0"), match["zone"] or "Z"
    return _utc(f"{date}T{match['time']}.{part}{zone}")


def _utc(written: str) -> datetime | None:
    try:
        return datetime.fromisoformat(written).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _since_1970(number: float) -> datetime | None:
    size = abs(number)
    unit = 10**9 if size >= _NANOSECONDS else 10**6 if size >= _MICROSECONDS else 10**3 if size >= _MILLISECONDS else 1
    try:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=round(number * 10**6 / unit))
    except (ValueError, OverflowError):
        return None
