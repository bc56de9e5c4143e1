"""Rate limits: turns that are evenly spaced, on a clock that the test moves."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.calls.rate_limit import RateLimiter, Schedule, process_rate_limiter
from planner_executor.graph.testing import PassingClock


def test_calls_take_turns_that_are_evenly_spaced() -> None:
    turns = RateLimiter({"search": 30.0}, lambda: 100.0)

    assert [turns.wait_s("search") for _ in range(4)] == [0.0, 2.0, 4.0, 6.0]


def test_what_has_no_rate_never_waits_and_takes_nobodys_turn() -> None:
    turns = RateLimiter({"search": 1.0, "gpt": 2.0}, lambda: 0.0)

    assert [turns.wait_s(name) for name in ("other", "search", "other", "gpt", "search")] == [0, 0, 0, 0, 60.0]


def test_time_that_passed_is_not_waited_for_again_and_turns_are_not_saved_up() -> None:
    clock = PassingClock(0.0)
    turns = RateLimiter({"search": 6.0}, lambda: clock.now)

    assert turns.wait_s("search") == 0.0
    clock.now = 4.0
    assert turns.wait_s("search") == 6.0
    clock.now = 1_000.0
    assert [turns.wait_s("search") for _ in range(3)] == [0.0, 10.0, 20.0]


@given(st.floats(0.1, 600.0), st.lists(st.floats(0.0, 30.0), min_size=1, max_size=30))
def test_no_more_calls_start_in_a_minute_than_the_rate_allows(rate: float, pauses: list[float]) -> None:
    clock = PassingClock(0.0)
    turns = RateLimiter({"search": rate}, lambda: clock.now)
    starts = []
    for pause in pauses:
        clock.now += pause
        starts.append(clock.now + turns.wait_s("search"))

    assert all(after - before >= 60.0 / rate - 1e-6 for before, after in pairwise(starts))


def test_graphs_with_the_same_rate_of_a_name_share_it_and_others_do_not() -> None:
    schedule = Schedule()
    first, second, other = (RateLimiter({"search": rate}, lambda: 0.0, schedule) for rate in (6.0, 6.0, 60.0))

    assert [turns.wait_s("search") for turns in (first, second, other, first)] == [0.0, 10.0, 0.0, 20.0]


def test_a_graph_that_is_gone_has_taken_its_turns_all_the_same() -> None:
    waits = [process_rate_limiter({"a name of this test": 0.001}).wait_s("a name of this test") for _ in range(2)]

    assert waits[0] == 0.0 and waits[1] > 1_000


def test_turns_that_have_come_are_forgotten() -> None:
    clock, schedule = PassingClock(0.0), Schedule()
    for number in range(1_000):
        RateLimiter({f"tool {number}": 60.0}, lambda: clock.now, schedule).wait_s(f"tool {number}")
        clock.now += 1.0

    assert len(schedule) == 1


def test_a_turn_that_is_further_away_than_the_longest_wait_is_not_taken() -> None:
    clock = PassingClock(100.0)
    turns = RateLimiter({"search": 6.0}, lambda: clock.now, longest_s=10.0)

    assert [turns.wait_s("search") for _ in range(4)] == [0.0, 10.0, 0.0, 0.0]
    clock.now = 115.0
    assert turns.wait_s("search") == 5.0
