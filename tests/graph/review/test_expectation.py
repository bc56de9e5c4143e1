from typing import Any

import pytest

from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.record.budget import Price
from planner_executor.graph.record.expected import Expected, Took
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.said import Said, spent_since
from planner_executor.graph.review.expectation import Basis, expectation
from planner_executor.graph.text.expectation import said_and_spent, takes_in_words

SEND = {"id": "s", "objective": "o", "tool": "send"}
THINK = {"id": "m", "objective": "o", "depends_on": ["s"]}
SENT, THOUGHT = Took(9, (1.0, 2.0)), Took(9, (5.0, 8.0), {"small": ((100.0, 200.0), (10.0, 20.0))})
PRICES = {"small": Price(10.0, 100.0)}


def takes(*steps: Any, took: Any, prompts: Any = None, concurrency: int = 16, prices: Any = PRICES) -> dict[str, Any]:
    plan = Plan.model_validate({"steps": steps})
    first = {step.id: "small" for step in plan.steps if step.kind == "model"}
    likeness = {step.id: "think" if step.id in first else f"tool {step.tool}" for step in plan.steps}
    return expectation(plan, plan.steps, Expected(took, prompts or {}), Basis(likeness, first, prices, concurrency))


def test_time_is_that_of_the_longest_chain_and_cost_follows_from_tokens_and_prices() -> None:
    found = takes(SEND, {**SEND, "id": "t"}, THINK, took={"tool send": SENT, "think": THOUGHT})

    assert found == {
        "seconds": {"low": 6.0, "high": 10.0},
        "tokens": {"low": 110, "high": 220},
        "cost_usd": {"low": 0.002, "high": 0.004},
    }


@pytest.mark.parametrize(("concurrency", "high"), [(16, 2.0), (2, 4.0), (1, 8.0)])
def test_steps_that_cannot_all_run_at_once_take_longer(concurrency: int, high: float) -> None:
    sends = [{**SEND, "id": f"s{at}"} for at in range(4)]

    assert takes(*sends, took={"tool send": SENT}, concurrency=concurrency)["seconds"] == {"low": 1.0, "high": high}


def test_items_count_once_at_least_and_as_often_as_the_plan_allows_at_most() -> None:
    each = {**SEND, "for_each": {"of": "a list"}, "max_items": 4}

    assert takes(each, took={"tool send": SENT}, concurrency=2)["seconds"] == {"low": 1.0, "high": 4.0}


def test_a_list_that_stands_in_the_plan_is_counted() -> None:
    each = {**THINK, "for_each": [1, 2, 3], "max_items": 9}

    assert takes(SEND, each, took={}, prompts={"m": 300})["tokens"] == {"low": 900}


def test_without_history_there_is_no_upper_bound_and_the_prompt_is_the_lower_one() -> None:
    found = takes(SEND, THINK, took={"tool send": SENT}, prompts={"m": 300})

    assert found == {
        "seconds": {"low": 1.0},
        "tokens": {"low": 300},
        "cost_usd": {"low": 0.003},
        "unknown": ["m"],
    }
    assert "cost_usd" not in takes(SEND, THINK, took={"think": THOUGHT}, prices={})
    assert takes({"id": "q", "objective": "o", "ask": "?"}, took={}) == {"seconds": {"low": 0.0, "high": 0.0}}


def test_what_is_expected_survives_the_record_and_numbers_that_were_redacted_say_nothing() -> None:
    expected = Expected({"tool send": SENT, "think": THOUGHT}, {"m": 3})
    raw: Any = expected.to_json()

    assert Expected.from_json(raw) == expected
    raw["took"]["think"]["seconds"], raw["prompts"]["m"] = "[redacted]", "[redacted]"
    assert Expected.from_json(raw) == Expected({"tool send": SENT})


def test_what_was_spent_is_counted_from_the_approval_on_and_told_beside_what_was_said() -> None:
    plan = Plan.model_validate({"steps": [SEND, THINK]})
    said = Said({"seconds": {"low": 1.0, "high": 9.0}, "tokens": {"low": 5}}, tokens=100, cost_usd=0.5)
    results = {"s": StepResult("succeeded", 1, started_at=10.0, ended_at=12.5), "m": StepResult("failed")}

    spent = spent_since(said, plan, results, tokens=160, cost_usd=0.75)

    assert spent == {"seconds": 2.5, "tokens": 60}
    told = said_and_spent(said.takes, spent)
    assert told == "expected 1 to 9 seconds and at least 5 tokens; took 2.5 seconds and 60 tokens"
    assert said_and_spent({"seconds": {"low": 0.0}}, {"seconds": 1.0}) == ""


@pytest.mark.parametrize(
    ("spent", "told"),
    [
        ({"seconds": 0.4}, ""),
        ({"seconds": 1.2}, "expected less than 1 second; took 1.2 seconds"),
        ({"seconds": 0.4, "tokens": 7}, "expected 5 to 9 tokens; took 7 tokens"),
    ],
)
def test_less_than_a_second_as_expected_is_not_told(spent: dict[str, float], told: str) -> None:
    said = {"seconds": {"low": 0.1, "high": 0.4}, "tokens": {"low": 5, "high": 9}}

    assert said_and_spent(said, spent) == told


def test_a_duration_below_a_second_is_told_as_such() -> None:
    told = said_and_spent({"seconds": {"low": 2.0, "high": 3.0}}, {"seconds": 0.0})

    assert told == "expected 2 to 3 seconds; took less than 1 second"


@pytest.mark.parametrize(
    ("found", "told"),
    [
        ({"seconds": {"low": 0.1, "high": 0.4}}, "By what like steps took: less than 1 second."),
        ({"seconds": {"low": 12.2, "high": 12.4}}, "By what like steps took: about 12 seconds."),
        ({"seconds": {"low": 0.0}, "unknown": list("abcdefg")}, "no history of a, b, c, d, e and 2 more."),
        ({"seconds": {"low": 3.0}, "unknown": ["x"]}, "at least 3 seconds. This ledger has no history of x."),
        ({"seconds": {"low": 1.0, "high": 2.0}, "tokens": {"low": 5, "high": 5}}, "; the price is not known."),
        ({}, ""),
    ],
)
def test_a_review_says_it_in_words(found: Any, told: str) -> None:
    assert takes_in_words(found).endswith(told)
