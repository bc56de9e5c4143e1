"""Budgets: what may be spent, what was, and which limit is reached first."""

from types import MappingProxyType
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.record.budget import (
    ROUNDING,
    TIMES,
    UNIT,
    Budget,
    Price,
    Usage,
    limit_in_words,
    limits_of_a_run,
    reached,
    read_budget,
    spent_in_words,
    unit_in_words,
)
from planner_executor.graph.words.tables import Shape, read

LIMITS = st.one_of(st.none(), st.integers(0, 10))
BUDGETS = st.builds(
    lambda plain, calls: Budget(**plain, calls=calls),
    st.fixed_dictionaries(dict.fromkeys(UNIT, LIMITS)),
    st.dictionaries(st.sampled_from(["send", "read"]), st.integers(0, 5)),
)
USAGES = st.builds(
    lambda plain, calls: Usage(**plain, calls=calls),
    st.fixed_dictionaries(dict.fromkeys(UNIT, st.integers(0, 10))),
    st.dictionaries(st.sampled_from(["send", "read"]), st.integers(0, 5)),
)


def exceeds(budget: Budget, usage: Usage) -> bool:
    return any(usage.of(name) > (budget.of(name) or 0) for name in budget.names)


@given(BUDGETS, BUDGETS)
def test_of_two_budgets_the_lower_limit_holds(one: Budget, other: Budget) -> None:
    lower = one.within(other)

    assert set(lower.names) == {*one.names, *other.names}
    for name in lower.names:
        given_limits = [limit for limit in (one.of(name), other.of(name)) if limit is not None]
        assert lower.of(name) == min(given_limits)
    assert lower.beyond(one) == lower.beyond(other) == []


@given(BUDGETS, BUDGETS)
def test_a_budget_is_beyond_a_hard_one_where_it_would_allow_more(one: Budget, hard: Budget) -> None:
    more = [name for name in hard.names if one.of(name) is None or (one.of(name) or 0) > (hard.of(name) or 0)]

    assert one.beyond(hard) == more


@given(BUDGETS)
def test_a_budget_is_read_as_it_was_told(budget: Budget) -> None:
    assert read_budget(budget.to_json()) == (budget, [])


@given(BUDGETS, USAGES, USAGES)
def test_a_limit_is_reached_just_where_more_of_what_is_asked_for_would_exceed_it(
    budget: Budget, usage: Usage, more: Usage
) -> None:
    limit = reached(budget, usage, more)

    asked = {name: more.of(name) for name in budget.names if more.of(name)}
    over = [name for name, amount in asked.items() if usage.of(name) + amount > (budget.of(name) or 0)]
    late = [name for name in TIMES if name in budget.names and not more.of(name)]
    late = [name for name in late if usage.of(name) >= (budget.of(name) or 0)]
    assert (limit is not None) == bool(over or late)
    assert limit in [None, *over, *late]


@given(BUDGETS, st.lists(st.sampled_from(["model_calls", "tool_calls", "steps", "send", "read"]), max_size=40))
def test_what_is_let_through_never_exceeds_a_budget(budget: Budget, asks: list[str]) -> None:
    usage = Usage()
    for ask in asks:
        more = Usage(calls={ask: 1}, tool_calls=1) if ask in ("send", "read") else Usage(**{ask: 1})  # type: ignore[arg-type]
        if reached(budget, usage, more) is None:
            usage = usage.plus(
                model_calls=more.model_calls, tool_calls=more.tool_calls, steps=more.steps, calls=more.calls
            )

    assert not exceeds(budget, usage)


def test_a_limit_of_nothing_allows_nothing_and_what_costs_nothing_is_allowed() -> None:
    none = Budget(tool_calls=0, tokens=0, calls={"send": 0})

    assert reached(none, Usage(), Usage(tool_calls=1)) == "tool_calls"
    assert reached(none, Usage(), Usage(calls={"send": 1})) == "calls.send"
    assert reached(none, Usage(), Usage(model_calls=1)) is None


def test_time_is_up_for_whatever_is_asked() -> None:
    assert reached(Budget(wall_s=5), Usage(wall_s=5), Usage(tool_calls=1)) == "wall_s"
    assert reached(Budget(wall_s=5), Usage(wall_s=4.9), Usage(tool_calls=1)) is None


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        (5, "budget"), ([], "budget"), ("tool_calls = 5", "budget"), ({"tool_cals": 5}, "tool_cals"), ({1: 5}, "1"),
        ({"tool_calls": -1}, "tool_calls"), ({"tool_calls": 1.0}, "tool_calls"), ({"tool_calls": True}, "tool_calls"),
        ({"tool_calls": "5"}, "tool_calls"), ({"cost_usd": float("nan")}, "cost_usd"), ({"wall_s": -0.1}, "wall_s"),
        ({"cost_usd": float("inf")}, "cost_usd"), ({"calls": 5}, "calls"), ({"calls": {"send": None}}, "calls.send"),
        ({"calls": {"send": 1.5}}, "calls.send"), ({"calls": ["send"]}, "calls"),
    ],
)  # fmt: skip
def test_what_is_no_limit_is_a_fault_and_then_there_is_no_budget(raw: Any, field: str) -> None:
    budget, faults = read_budget(raw)

    assert [name for name, _ in faults] == [field] and not budget.names


def test_a_limit_is_an_integer_of_64_bits_or_a_fraction_of_any_size() -> None:
    assert read_budget({"tool_calls": 2**63 - 1, "cost_usd": 1e30})[1] == []
    for name in ("tool_calls", "cost_usd"):
        assert read_budget({name: 2**63})[1] == [(name, "is beyond 64 bits; leave it out for no limit")]


def test_null_sets_no_limit() -> None:
    assert read_budget({"tool_calls": None, "calls": None, "wall_s": 0}) == (Budget(wall_s=0), [])


def test_a_price_is_per_million_tokens() -> None:
    assert Price(0.25, 2.0).cost_usd(4_000_000, 500_000) == 2.0


def test_limits_are_told_in_words() -> None:
    usage = Usage(tool_calls=2, cost_usd=0.12345, calls={"send": 1})

    assert limit_in_words("tool_calls", Budget(tool_calls=3), usage) == "2 of 3 tool calls"
    assert limit_in_words("cost_usd", Budget(cost_usd=1.0), usage) == "0.1235 of 1 US dollar"
    assert limit_in_words("calls.send", Budget(calls={"send": 1}), usage) == "1 of 1 call of send"
    assert unit_in_words("wall_s", 1.5) == "1.5 seconds of work"


def test_a_limit_of_one_is_beyond_a_hard_one_of_nothing() -> None:
    assert Budget(tool_calls=1).beyond(Budget(tool_calls=0)) == ["tool_calls"]


def test_a_limit_may_be_spent_to_the_last() -> None:
    assert reached(Budget(tool_calls=3), Usage(tool_calls=2), Usage(tool_calls=1)) is None


def test_only_limits_that_are_set_are_told() -> None:
    assert Budget(tool_calls=5).to_json() == {"tool_calls": 5}
    assert Budget(calls={"send": 0}).to_json() == {"calls": {"send": 0}}


def test_a_run_begins_with_nothing_spent() -> None:
    assert Usage().to_json() == {} and all(Usage().of(name) == 0 for name in (*UNIT, "calls.send"))


def test_what_is_spent_is_added_to_what_was() -> None:
    usage = Usage(tokens=5, cost_usd=0.5, calls={"send": 2, "read": 1}).plus(tokens=3, calls={"send": 1, "write": 1})

    assert usage == Usage(tokens=8, cost_usd=0.5, calls={"send": 3, "read": 1, "write": 1})
    assert usage.plus(steps=1).calls == usage.calls
    assert usage.to_json() == {"tokens": 8, "cost_usd": 0.5, "calls": {"send": 3, "read": 1, "write": 1}}


def test_a_fault_says_which_numbers_a_limit_takes() -> None:
    whole, number = "must be an integer >= 0", "must be a number >= 0"

    assert read_budget({"tool_calls": 0.5, "wall_s": -1})[1] == [("tool_calls", whole), ("wall_s", number)]
    assert read_budget({"tool_calls": {"send": 1}})[1] == [("tool_calls", whole)]
    assert read_budget({"cost_usd": 0.5, "wall_s": 1}) == (Budget(cost_usd=0.5, wall_s=1), [])


def test_what_was_spent_or_is_bounded_is_told_and_nothing_else() -> None:
    budget = Budget(tool_calls=5, calls={"send": 2})

    assert spent_in_words(budget, Usage(tokens=7)) == "7 tokens, 0 of 5 tool calls, 0 of 2 calls of send"
    assert spent_in_words(Budget(), Usage()) == ""


def test_a_count_is_told_to_the_last_digit() -> None:
    assert unit_in_words("tokens", 2**53 + 1) == "9007199254740993 tokens"


@given(USAGES)
def test_a_usage_is_read_as_it_was_told(usage: Usage) -> None:
    told = usage.to_json()

    assert Usage.from_json(told).to_json() == told


def test_a_number_that_was_taken_out_of_the_record_counts_as_nothing() -> None:
    assert Usage.from_json({"tokens": "[redacted]", "steps": 2, "cost_usd": 0.5}) == Usage(steps=2, cost_usd=0.5)


def test_the_calls_of_a_usage_are_told_as_plain_data() -> None:
    assert type(Usage(calls=MappingProxyType({"send": 1})).to_json()["calls"]) is dict


def test_the_limits_of_a_day_are_none_of_a_run() -> None:
    assert limits_of_a_run({"limits": {"tokens": 5, "per_day": {"tokens": 9}}}) == {"tokens": 5}
    assert limits_of_a_run({}) == {}


def test_a_sum_may_be_wrong_by_what_rounding_takes_and_by_no_more() -> None:
    budget = Budget(cost_usd=0.0)

    assert reached(budget, Usage(), Usage(cost_usd=ROUNDING)) is None
    assert reached(budget, Usage(), Usage(cost_usd=1.01 * ROUNDING)) == "cost_usd"


def test_a_budget_on_record_is_read_and_one_with_faults_limits_nothing() -> None:
    assert Budget.from_json({"tokens": 5}) == Budget(tokens=5)
    assert Budget.from_json({"tokens": "[redacted]"}) == Budget()


def test_what_is_set_aside_is_told_beside_its_limit() -> None:
    budget, usage = Budget(tokens=50), Usage(tokens=7)

    assert limit_in_words("tokens", budget, usage) == "7 of 50 tokens"
    assert limit_in_words("tokens", budget, usage, Usage(tokens=1)) == (
        "7 of 50 tokens and 1 set aside for a model without an answer"
    )


def test_a_price_may_be_below_a_dollar_or_nothing() -> None:
    assert read(Annotated[Price, Shape()], {"input": 0.5, "output": 0}) == (Price(0.5, 0), [])
