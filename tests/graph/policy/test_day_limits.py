from typing import Any

import pytest

from planner_executor.graph.errors import PolicyError
from planner_executor.graph.policy.day_limits import NO_DAY_LIMITS, DayLimits, DayTable, rate_of
from planner_executor.graph.policy.policy import Policy
from planner_executor.graph.policy.policy_file import policy_from, policy_from_toml
from planner_executor.graph.policy.strictness import looser_points
from planner_executor.graph.record.budget import Budget
from planner_executor.graph.record.caps import DayCap, RateCap
from planner_executor.graph.words.tables import read

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
        ("[limits.per_day]\ntokens = 0", 2, r"is 0, so .* \[limits\] for each run"),
        ("[limits.per_day.per_user]\ncost_usd = 0.0", 2, "is 0, so"),
        ("[limits.per_day]\ncalls = { send = 0 }", 2, r"is 0, so .* use \[tools\.send\] with verdict = \"deny\""),
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
    assert DayLimits(Budget(tokens=0)).caps({"tokens": 1}, "") == ((DayCap("tokens", 0), 1),)


def test_a_turn_taken_by_a_clock_that_was_ahead_holds_nobody_up() -> None:
    rate = RateCap("fetch", 10.0)

    assert [rate.wait_s(last, 100.0) for last in (None, 90.0, 95.0, 100.0, 5_000.0)] == [0.0, 0.0, 5.0, 10.0, 0.0]


@pytest.mark.parametrize(
    ("limits", "caps", "json"),
    [
        (DayLimits(), [], {}),
        (SENDS, [DayCap("calls.send", 3)], {"calls": {"send": 3}}),
        (
            DayLimits(per_user=Budget(tokens=5), time_zone="Asia/Tokyo"),
            [DayCap("tokens", 5, "each", "Asia/Tokyo")],
            {"per_user": {"tokens": 5}, "time_zone": "Asia/Tokyo"},
        ),
        (DayLimits(Budget(tokens=0), Budget(tokens=0)), [DayCap("tokens", 0), DayCap("tokens", 0, "each")],
         {"tokens": 0, "per_user": {"tokens": 0}}),
    ],
    ids=["none", "together", "each in Tokyo", "nothing at all"],
)  # fmt: skip
def test_limits_are_named_for_people_and_written_as_far_as_they_are_set(
    limits: DayLimits, caps: list[DayCap], json: Any
) -> None:
    assert list(limits.all_caps()) == caps and limits.to_json() == json
    assert limits.is_set is bool(caps)


@pytest.mark.parametrize(
    ("ours", "than", "points"),
    [
        (SENDS, DayLimits(per_user=Budget(tokens=5)), ["limits.per_day.per_user.tokens is higher or not set"]),
        (DayLimits(time_zone="Asia/Tokyo"), DayLimits(), []),
        (DayLimits(SENDS.together, time_zone="Asia/Tokyo"), SENDS, ["limits.per_day has another time_zone"]),
    ],
)
def test_each_looser_limit_is_named(ours: DayLimits, than: DayLimits, points: list[str]) -> None:
    assert list(ours.looser(than)) == points


@pytest.mark.parametrize(
    ("given", "rate"),
    [
        (0.5, 0.5),
        (1, 1),
        (0, None),
        (-1, None),
        (float("inf"), None),
        (True, None),
        ("0.5/hour", 0.5 / 60),
        (None, None),
    ],
)
def test_a_rate_is_a_number_above_none_at_all(given: Any, rate: float | None) -> None:
    assert rate_of(given) == rate


def test_faults_of_limits_name_their_places() -> None:
    raw = {"calls": {"a.b": -1}, "time_zone": 7, "per_user": {"tokens": "many"}}

    assert [path for path, _ in read(DayTable, raw)[1]] == [("calls", "a.b"), ("per_user", "tokens"), ("time_zone",)]
