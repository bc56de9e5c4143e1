"""What a plan may take, in words."""

from typing import Any

import pytest

from planner_executor.graph.text.expectation import estimate_text, said_and_spent, takes_in_words

BARE = {"steps": 1, "longest_chain": 1, "tool_calls": 2, "model_steps": 0}
MORE = "The plan may take more than that; the run then asks."


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({}, "To do: 1 step; at most 2 tool calls."),
        ({"steps": 3, "longest_chain": 2}, "To do: 3 steps (longest chain: 2); at most 2 tool calls."),
        ({"model_steps": 1}, "To do: 1 step; at most 2 tool calls, 1 step by a model."),
        (
            {"further_attempts": 3, "to_refine": 1},
            "To do: 1 step; at most 2 tool calls, 3 further attempts after failures included, "
            "and what comes of 1 step to refine.",
        ),
        ({"budget_left": {"tool_calls": 2}}, "To do: 1 step; at most 2 tool calls. Left of the budget: 2 tool calls."),
        (
            {"budget_left": {"tool_calls": 1, "steps": 5}},
            f"To do: 1 step; at most 2 tool calls. Left of the budget: 1 tool call, 5 steps. {MORE}",
        ),
    ],
)  # fmt: skip
def test_the_remaining_work_and_budget_are_told(more: dict[str, Any], told: str) -> None:
    assert estimate_text({**BARE, **more}) == told


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        ({"low": 0.5, "high": 0.9}, "less than 1 second"),
        ({"low": 0.5, "high": 1.0}, "0.5 to 1 seconds"),
        ({"low": 9.5, "high": 10.4}, "9.5 to 10 seconds"),
        ({"low": 10.0, "high": 10.4}, "about 10 seconds"),
        ({"low": 0.0, "high": 0.0}, "less than 1 second"),
        ({"low": 2.0}, "at least 2 seconds"),
    ],
)
def test_a_range_of_time_is_told(seconds: dict[str, float], told: str) -> None:
    assert takes_in_words({"seconds": seconds}) == f"Estimate, from earlier runs of these steps: {told}."


def test_amounts_are_joined_by_commas_and_and() -> None:
    takes = {"seconds": {"low": 2.0}, "tokens": {"low": 0, "high": 0.5}, "cost_usd": {"low": 0.0, "high": 0.25}}

    told = "at least 2 seconds, about 0 tokens and 0 to 0.25 US dollars"
    assert takes_in_words(takes) == f"Estimate, from earlier runs of these steps: {told}."
    assert takes_in_words({}) == "" and takes_in_words({"unknown": ["a"], "tokens": {"low": 0}}).startswith("No estim")


@pytest.mark.parametrize(("spent", "told"), [(0.9, "less than 1 second"), (1.0, "1 second"), (1.5, "1.5 seconds")])
def test_what_a_run_took_is_told(spent: float, told: str) -> None:
    takes = {"seconds": {"low": 2.0, "high": 5.0}, "tokens": {"low": 1, "high": 1}}

    said = said_and_spent(takes, {"seconds": spent, "tokens": 0.4})
    assert said == f"expected 2 to 5 seconds and about 1 token; took {told} and 0 tokens"
