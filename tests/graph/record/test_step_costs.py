"""What each step cost, and whose criteria nobody judged."""

from typing import Any

import pytest

from planner_executor import build_graph
from planner_executor.graph.record.cost import StepCost, cost_with
from planner_executor.graph.record.events import Draft, Event, ModelFinished
from planner_executor.graph.record.events.model import Tokens
from planner_executor.graph.record.step_costs import step_costs
from planner_executor.graph.testing import LoggedTools, ScriptedModel, on_thread, step
from planner_executor.graph.text.audit import unjudged_steps

PLAN: dict[str, Any] = {
    "steps": [
        {**step("a", "search", query="x"), "success_criteria": "there is a passage"},
        {"id": "b", "objective": "think", "depends_on": ["a"], "success_criteria": "it is short"},
        step("c", "search", after=["b"], query="y"),
    ]
}


def events_of(tools: LoggedTools, *answers: Any, **more: Any) -> list[Event]:
    """Run the plan and return the events that an observer was told of."""
    told: list[Draft] = []
    search = tools.tool("search", lambda query: query, effect="read")
    graph = build_graph(
        ScriptedModel([PLAN, *answers]),
        tools=[search],
        approval="never",
        observers=[lambda _, drafts: told.extend(drafts)],
        **more,
    )
    assert graph.invoke({"goal": "g"}, on_thread())["status"] == "succeeded"
    return [Event(seq, draft.kind, draft.step, 0.0, draft.payload) for seq, draft in enumerate(told, 1)]


def test_calls_and_tokens_are_counted_by_step_and_planning_apart(tools: LoggedTools) -> None:
    costs = step_costs(events_of(tools, "a thought"))

    assert {name: (cost.tool_calls, cost.model_calls) for name, cost in costs.items()} == {
        "planning": (0, 1),
        "a": (1, 0),
        "b": (0, 1),
        "c": (1, 0),
    }
    assert costs["b"].tokens > 0 and costs["a"] == StepCost(1)


@pytest.mark.parametrize("usage", [Tokens(), None], ids=["of the embedded rules", "none"])
def test_an_answer_of_no_tokens_and_a_request_without_one_are_free(usage: Tokens | None) -> None:
    free = ModelFinished(key="k", role="planner", usage=usage)

    assert cost_with(StepCost(known_usd=0.5), free) == StepCost(known_usd=0.5)


def test_the_price_of_a_step_is_unknown_if_that_of_one_answer_is() -> None:
    unpriced = cost_with(StepCost(known_usd=0.5), ModelFinished(key="k", usage=Tokens(total_tokens=7)))

    assert (unpriced.cost_usd, unpriced.known_usd, unpriced.tokens) == (None, 0.5, 7)
    assert cost_with(unpriced, ModelFinished(key="k", usage=Tokens(total_tokens=1), cost_usd=0.25)).known_usd == 0.75


def test_criteria_in_words_that_nobody_judged_are_named(tools: LoggedTools) -> None:
    assert unjudged_steps(events_of(tools, "a thought")) == ["a", "b"]
    assert unjudged_steps([]) == []


def test_a_criterion_that_a_judge_judged_is_not_named(tools: LoggedTools) -> None:
    judge = ScriptedModel([{"met": True, "why": "yes"}, {"met": True, "why": "yes"}])

    assert unjudged_steps(events_of(tools, "a thought", judge=judge)) == []
