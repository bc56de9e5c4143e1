from typing import Any

import pytest

from graph.errors import PolicyError
from graph.policy.day_limits import NO_DAY_LIMITS, DayLimits
from graph.policy.policy import Policy
from graph.policy.policy_file import policy_from, policy_from_toml
from graph.policy.strictness import looser_points
from graph.record.budget import Budget
from graph.record.caps import DayCap, RateCap

TEXT = """
[limits]
tool_calls = 9

[limits.per_day]
tokens = 5_000
calls = { send = 50 }
time_zone = "Europe/Berlin"

[limits.per_day.per_user]
calls = { send = 10 }

[rates]
fetch = "5/second"
read = 30
"""
SENDS = DayLimits(Budget(calls={"send": 3}))


def test_a_policy_reads_the_limits_of_a_day_and_rates_by_unit_and_writes_them_again() -> None:
    policy = policy_from_toml(TEXT)

    assert policy.limits == Budget(tool_calls=9)
    assert policy.per_day == DayLimits(
        Budget(tokens=5_000, calls={"send": 50}), Budget(calls={"send": 10}), "Europe/Berlin"
    )
    assert policy.rates == {"fetch": 300.0, "read": 30}
    assert policy_from(policy.to_json()) == policy
    assert policy.digest != Policy(limits=policy.limits, rates=policy.rates).digest


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("[limits.per_day]\nreplans = 2", 2, "is no limit of a day"),
        ("[limits.per_day]\ntokens = -1", 2, "integer >= 0"),
        ("[limits.per_day.per_user]\ncalls = { send = 1.5 }", 2, "integer >= 0"),
        ("[limits.per_day.per_user]\ntime_zone = 'UTC'", 2, "is no limit of a day"),
        ("[limits.per_day]\ntime_zone = 'Berlin'", 2, "no time zone"),
        ("[limits.per_day]\ntime_zone = '../UTC'", 2, "no time zone"),
        ("[limits]\nper_day = 5", 2, "must be a table"),
        ("[rates]\nsend = '5/day'", 2, "100/hour"),
        ("[rates]\nsend = true", 2, "100/hour"),
    ],
)
def test_a_limit_of_a_day_that_is_not_understood_is_refused_with_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(PolicyError, match=words) as refused:
        policy_from_toml(text)

    assert refused.value.line == line


@pytest.mark.parametrize(
    ("ours", "is_looser"),
    [
        (NO_DAY_LIMITS, True),
        (DayLimits(Budget(calls={"send": 4})), True),
        (DayLimits(per_user=Budget(calls={"send": 3})), True),
        (DayLimits(SENDS.together, time_zone="Asia/Tokyo"), True),
        (DayLimits(Budget(calls={"send": 2}), Budget(tokens=1)), False),
    ],
)
def test_a_policy_without_a_limit_of_a_day_or_with_a_higher_one_is_looser(ours: DayLimits, is_looser: bool) -> None:
    assert bool(looser_points(Policy(per_day=ours), Policy(approval="never", per_day=SENDS))) is is_looser


def test_a_call_counts_against_the_caps_of_all_and_of_its_user_that_are_set() -> None:
    limits = DayLimits(Budget(tool_calls=9, calls={"send": 3}), Budget(calls={"send": 1}))

    caps: Any = limits.caps({"tool_calls": 1, "calls.send": 1}, "person:ada")

    expected = {DayCap("tool_calls", 9), DayCap("calls.send", 3), DayCap("calls.send", 1, "person:ada")}
    assert {cap for cap, _ in caps} == expected
    assert not limits.caps({"calls.read": 1}, "person:ada")


def test_a_turn_taken_by_a_clock_that_was_ahead_holds_nobody_up() -> None:
    rate = RateCap("fetch", 10.0)

    assert [rate.wait_s(last, 100.0) for last in (None, 90.0, 95.0, 100.0, 5_000.0)] == [0.0, 0.0, 5.0, 10.0, 0.0]
