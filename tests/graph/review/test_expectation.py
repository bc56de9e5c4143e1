from typing import Any

import pytest

from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.record.budget import Price
from planner_executor.graph.record.cost import StepCost
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


def test_a_batch_of_items_has_one_prompt() -> None:
    each = {**THINK, "for_each": [1, 2, 3], "max_items": 9, "output": "json", "batch": 2}

    assert takes(SEND, each, took={}, prompts={"m": 300})["tokens"] == {"low": 600}


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
    said = Said({"seconds": {"low": 1.0, "high": 9.0}, "tokens": {"low": 5}}, StepCost(tokens=100, known_usd=0.5))
    results = {"s": StepResult("succeeded", 1, started_at=10.0, ended_at=12.5), "m": StepResult("failed")}

    spent = spent_since(said, plan, results, StepCost(tokens=160, known_usd=0.75))

    assert spent == {"seconds": 2.5, "tokens": 60}
    told = said_and_spent(said.takes, spent)
    assert told == "expected 1 to 9 seconds and at least 5 tokens; took 2.5 seconds and 60 tokens"
    assert said_and_spent({"seconds": {"low": 0.0}}, {"seconds": 1.0}) == ""


def test_steps_done_before_the_approval_are_no_part_of_what_it_took() -> None:
    plan = Plan.model_validate({"steps": [SEND, THINK]})
    said = Said({"seconds": {"low": 1.0}}, done=frozenset({"s"}))
    times = {"s": (10.0, 70.0), "m": (80.0, 82.0)}
    results = {name: StepResult("succeeded", 1, started_at=at, ended_at=end) for name, (at, end) in times.items()}

    assert spent_since(said, plan, results, StepCost()) == {"seconds": 2.0}


@pytest.mark.parametrize(("unpriced", "spent"), [(1, {"cost_usd": 0.25}), (2, {})])
def test_a_cost_is_told_if_each_answer_since_the_approval_has_a_price(unpriced: int, spent: dict[str, float]) -> None:
    said = Said({"cost_usd": {"low": 0.1}}, StepCost(known_usd=0.5, unpriced=1))

    assert spent_since(said, Plan(), {}, StepCost(known_usd=0.75, unpriced=unpriced)) == spent


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
        ({"seconds": {"low": 0.1, "high": 0.4}}, "Estimate, from earlier runs of these steps: less than 1 second."),
        ({"seconds": {"low": 12.2, "high": 12.4}}, "Estimate, from earlier runs of these steps: about 12 seconds."),
        ({"seconds": {"low": 1.0, "high": 1.0}}, "about 1 second."),
        (
            {"seconds": {"low": 0.0}, "tokens": {"low": 340}, "cost_usd": {"low": 0.1}},
            "the prompts: at least 340 tokens and at least 0.1 US dollars.",
        ),
        (
            {"seconds": {"low": 0.0}, "unknown": list("abcdefg")},
            "No estimate yet: a, b, c, d, e and 2 more have not run here before.",
        ),
        (
            {"seconds": {"low": 3.0}, "unknown": ["x"]},
            "at least 3 seconds. Not counted: x, which has not run here before.",
        ),
        ({"seconds": {"low": 1.0, "high": 2.0}, "tokens": {"low": 5, "high": 5}}, "; the price is not known."),
        ({}, ""),
    ],
)
def test_a_review_says_it_in_words(found: Any, told: str) -> None:
    assert takes_in_words(found).endswith(told)


def test_steps_of_a_planner_take_time_and_what_has_no_history_is_named_by_its_tool() -> None:
    refined = {"id": "r", "objective": "o", "refine": True}

    assert takes(refined, SEND, took={})["unknown"] == ["r", "send"]


def test_a_list_with_references_in_it_is_not_counted() -> None:
    each = {**SEND, "for_each": ["{t_result}", 2], "max_items": 4}

    assert takes({**SEND, "id": "t"}, each, took={"tool send": SENT}, concurrency=1)["seconds"]["high"] == 2.0 + 8.0


def test_a_model_without_tokens_on_record_has_those_of_its_prompt_or_none() -> None:
    took = {"think": Took(9, (1.26, 2.0))}

    assert takes(SEND, THINK, took=took, prompts={"m": 300})["tokens"] == {"low": 300, "high": 300}
    alone = takes({**THINK, "depends_on": []}, took=took, prices={})
    assert alone == {"seconds": {"low": 1.3, "high": 2.0}, "tokens": {"low": 0, "high": 0}}


@pytest.mark.parametrize(
    ("tokens", "price", "told", "cost"),
    [(1e6, 10.0, "1000000", 10.0), (100.4, 0.0, "100", 0.0), (1.0, 0.4, "1", 0.0)],
)
def test_tokens_are_whole_and_costs_have_six_digits(tokens: float, price: float, told: str, cost: float) -> None:
    took = {"think": Took(9, (1.0, 1.0), {"small": ((tokens, tokens), (0.0, 0.0))})}

    found = takes({**THINK, "depends_on": []}, took=took, prices={"small": Price(price, 0.0)})

    assert (str(found["tokens"]["low"]), found["cost_usd"]) == (told, {"low": cost, "high": cost})
