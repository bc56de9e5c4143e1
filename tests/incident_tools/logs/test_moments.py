from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner_executor.incident_tools.logs.moments import leading_moment, moment, shown


@pytest.mark.parametrize(
    "written",
    [
        "2026-09-15T08:14:07.730Z",
        "2026-09-15 08:14:07,730",
        "2026/09/15 10:14:07.73 +0200",
        "2026-09-15T10:14:07.730000000+02:00",
        1789460047.73,
        1789460047730,
        1789460047730000,
        1789460047730000000,
    ],
)
def test_the_same_moment_written_in_many_ways(written: object) -> None:
    assert shown(moment(written)) == "2026-09-15T08:14:07.730Z"


@pytest.mark.parametrize("written", ["", "soon", "2026-13-01T00:00:00Z", None, True, [], float("nan"), 1e300, 10**400])
def test_an_invalid_time_is_none(written: object) -> None:
    assert moment(written) is None


@pytest.mark.parametrize("line", ["[2026-09-15 08:14:07] it began", "2026-09-15T08:14:07Z it began"])
def test_the_time_before_a_message_is_taken_off(line: str) -> None:
    at, rest = leading_moment(line)

    assert (shown(at), rest) == ("2026-09-15T08:14:07.000Z", "it began")


MOMENTS = st.datetimes(datetime(1980, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))


@settings(deadline=None)
@given(MOMENTS, MOMENTS, st.integers(-14, 14))
def test_text_of_moments_sorts_in_order_of_time(one: datetime, other: datetime, hours: int) -> None:
    one, other = (each.replace(microsecond=each.microsecond // 1000 * 1000) for each in (one, other))
    there = one.astimezone(timezone(timedelta(hours=hours)))

    assert moment(there.isoformat()) == one
    assert (str(shown(one)) < str(shown(other))) == (one < other)
    assert moment(shown(one)) == one


@settings(deadline=None)
@given(st.text())
def test_any_text_is_a_time_or_none(text: str) -> None:
    assert moment(text) is None or isinstance(moment(text), datetime)
    assert leading_moment(text)[1] in text
