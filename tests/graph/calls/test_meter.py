"""The meter: reserved before a call, settled after it, and never beyond the budget however many are under way."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.calls.meter import ANSWER_TOKENS, LimitReached, Meter, Reservation
from planner_executor.graph.record.budget import NO_BUDGET, Budget, Price, Usage

PRICES = {"dear": Price(10.0, 100.0), "cheap": Price(1.0, 1.0)}


def meter(budget: Budget = NO_BUDGET, usage: Usage | None = None, worked_s: Callable[[], float] = lambda: 0.0) -> Meter:
    return Meter(budget, usage or Usage(), PRICES, worked_s)


def call(counted: Meter, tool: str = "send", step: str = "a", begins: bool = False) -> str | None:
    """Reserve a call and return None, or the limit that is reached."""
    try:
        counted.reserve_call(tool, step, begins=begins)
    except LimitReached as reached:
        return reached.limit
    return None


def used(input_tokens: int, output_tokens: int) -> dict[str, int]:
    return {
        "input_tokens": input_tokens,
        "output_tokens": output_tokens,
        "total_tokens": input_tokens + output_tokens,
    }


def test_calls_are_counted_from_what_was_spent_before() -> None:
    counted = meter(Budget(tool_calls=3), Usage(tool_calls=1))

    assert [call(counted) for _ in range(3)] == [None, None, "tool_calls"]
    assert counted.usage.tool_calls == 3


def test_each_tool_has_a_limit_of_its_own() -> None:
    counted = meter(Budget(calls={"send": 1}))

    assert [call(counted, tool) for tool in ("send", "read", "send", "read")] == [None, None, "calls.send", None]


def test_a_step_counts_once_however_many_calls_it_makes_and_not_when_it_had_begun_before() -> None:
    counted = meter(Budget(steps=2))

    assert [call(counted, step=step, begins=begins) for step, begins in (("a", True), ("a", True), ("b", True))] == [
        None
    ] * 3
    assert call(counted, step="old") is None
    assert call(counted, step="c", begins=True) == "steps"


def test_a_call_that_is_not_allowed_reserves_nothing() -> None:
    counted = meter(Budget(tool_calls=9, calls={"send": 0}))

    assert call(counted) == "calls.send" and counted.usage == Usage()


@given(st.integers(0, 5), st.lists(st.sampled_from(["send", "read", "model"]), max_size=12))
def test_what_is_under_way_never_exceeds_the_budget(most: int, asks: list[str]) -> None:
    counted = meter(Budget(tool_calls=most, model_calls=most, tokens=most * (ANSWER_TOKENS + 25)))
    for ask in asks:
        try:
            if ask == "model":
                counted.reserve_model("dear", 100)
            else:
                counted.reserve_call(ask, ask, begins=False)
        except LimitReached:
            pass

    assert counted.usage.tool_calls <= most and counted.usage.model_calls <= most
    assert counted.usage.tokens <= most * (ANSWER_TOKENS + 25)


@given(st.lists(st.tuples(st.integers(0, 2_000), st.integers(0, 500)), max_size=10), st.integers(0, 20_000))
def test_after_all_is_settled_the_usage_is_what_was_used_and_answers_within_the_guess_stay_within_the_budget(
    answers: list[tuple[int, int]], most: int
) -> None:
    counted = meter(Budget(tokens=most, cost_usd=1.0))
    paid, tokens = 0.0, 0
    for asked, answered in answers:
        try:
            aside = counted.reserve_model("dear", asked * 4)
        except LimitReached:
            continue
        paid += counted.settle(aside, used(asked, answered), "dear") or 0.0
        tokens += asked + answered

    assert counted.usage.tokens == tokens <= most
    assert counted.usage.cost_usd == pytest.approx(paid) and paid <= 1.0 + 1e-9


def test_parallel_model_calls_reserve_before_any_of_them_is_settled() -> None:
    counted = meter(Budget(tokens=2 * ANSWER_TOKENS))

    asides = [counted.reserve_model("dear", 0) for _ in range(2)]
    with pytest.raises(LimitReached) as reached:
        counted.reserve_model("dear", 0)
    counted.settle(asides[0], used(5, 5), "dear")

    assert reached.value.limit == "tokens" and counted.usage.tokens == ANSWER_TOKENS + 10
    counted.settle(asides[1], used(5, 5), "dear")
    counted.reserve_model("dear", 3_000)


def test_the_price_is_that_of_the_model_which_answered() -> None:
    counted = meter(Budget(cost_usd=1.0))

    paid = counted.settle(counted.reserve_model("dear", 400), used(100, 50), "cheap")

    assert paid == pytest.approx(150 / 1_000_000) == counted.usage.cost_usd


def test_a_call_that_failed_costs_nothing_but_counts() -> None:
    counted = meter(Budget(cost_usd=1.0, tokens=9_999, model_calls=5))

    assert counted.settle(counted.reserve_model("dear", 400), None, "dear") is None
    assert (counted.usage.cost_usd, counted.usage.tokens, counted.usage.model_calls) == (0.0, 0, 1)


def test_without_a_price_no_cost_is_known_and_without_a_budget_it_is_told_all_the_same() -> None:
    assert meter().settle(Reservation("unknown", 0, 0.0), used(1, 1), "unknown") is None
    assert meter().settle(Reservation("cheap", 0, 0.0), used(500_000, 500_000), "cheap") == 1.0


def test_a_step_of_a_model_begins_with_its_first_question() -> None:
    counted = meter(Budget(steps=1))

    counted.reserve_model("dear", 0, "a", begins=True)
    counted.reserve_model("dear", 0, "a", begins=True)
    with pytest.raises(LimitReached) as reached:
        counted.reserve_model("dear", 0, "b", begins=True)

    assert reached.value.limit == "steps"


def test_time_goes_on_from_what_was_worked_before() -> None:
    clock = iter([1.0, 4.9, 5.0, 6.0])
    counted = meter(Budget(wall_s=15.0), Usage(wall_s=10.0), lambda: next(clock))

    assert [call(counted), call(counted), call(counted)] == [None, None, "wall_s"]
    assert counted.wall_s == 16.0


def test_nobody_looks_at_the_clock_where_time_is_not_bounded() -> None:
    def clock() -> Any:
        raise AssertionError

    counted = meter(Budget(tool_calls=1), worked_s=clock)

    assert call(counted) is None and counted.wall_s is None


def test_four_characters_are_a_token_and_an_answer_has_a_thousand() -> None:
    assert meter().reserve_model("free", 400) == Reservation("free", 1_100, 0.0)
    assert meter().reserve_model("cheap", 400) == Reservation("cheap", 1_100, pytest.approx(0.0011))


def test_a_reservation_has_a_price_only_if_there_is_one() -> None:
    assert Reservation("m", 5, 0.0).to_json() == {"tokens": 5}
    assert Reservation("m", 5, 0.5).to_json() == {"tokens": 5, "cost_usd": 0.5}


def test_a_question_begins_no_step_unless_it_is_said_to() -> None:
    counted = meter(Budget(steps=0))

    counted.reserve_model("free", 0)
    counted.reserve_model("free", 0, "a")
    with pytest.raises(LimitReached, match="the budget's limit of steps is reached"):
        counted.reserve_model("free", 0, "b", begins=True)


def test_tokens_are_added_up_if_the_answer_has_no_total() -> None:
    counted = meter(Budget(tokens=9_999))

    counted.settle(counted.reserve_model("free", 0), {"input_tokens": 7, "output_tokens": 5}, "free")
    counted.settle(
        counted.reserve_model("free", 0), {"input_tokens": 7, "output_tokens": 5, "total_tokens": 20}, "free"
    )

    assert counted.usage.tokens == 32


def test_the_time_since_the_start_is_looked_at_if_it_is_bounded() -> None:
    elapsed = iter([9.9, 10.0])
    counted = Meter(Budget(elapsed_s=10.0), Usage(), PRICES, elapsed_s=lambda: next(elapsed))
    assert [call(counted), call(counted)] == [None, "elapsed_s"]

    unbounded = Meter(Budget(tool_calls=1), Usage(), PRICES, elapsed_s=lambda: next(elapsed))
    assert call(unbounded) is None
