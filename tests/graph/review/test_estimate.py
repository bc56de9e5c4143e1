"""What a plan will cost at most, told before it is approved."""

from typing import Any

from planner_executor.graph.plan.attempts import AttemptLimits
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.json_values import INT64
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.record.budget import Budget, Usage
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.record.spending import Spending
from planner_executor.graph.record.steps import Steps
from planner_executor.graph.review.estimate import estimate


def step(name: str, *after: str, **fields: Any) -> Step:
    return Step(id=name, objective="o", depends_on=after, **fields)


PLAN = Plan(
    steps=(
        step("a", tool="get"),
        step("b", "a", tools=("get", "send"), max_calls=3),
        step("c", "b"),
        step("d", "a", tool="get", for_each="{a_result}", max_items=7),
        step("e", "a", ask="Which?"),
    )
)


def test_all_that_a_plan_may_do_is_counted_at_its_most() -> None:
    assert estimate(PLAN, RunState(), Budget()) == {
        "steps": 5,
        "tool_calls": 1 + 2 * 3 + 7,
        "model_steps": 2,
        "longest_chain": 3,
    }


def test_what_a_step_is_refined_to_cannot_be_counted_and_that_is_told() -> None:
    plan = Plan(steps=(step("a", tool="get"), step("b", "a", refine=True, tools=("get", "send"))))

    found = estimate(plan, RunState(), Budget())

    assert (found["tool_calls"], found["to_refine"]) == (1, 1)


def test_what_is_done_is_not_counted_again() -> None:
    done = RunState(steps=Steps({"a": StepResult("succeeded"), "b": StepResult("failed")}))

    found = estimate(PLAN, done, Budget())

    assert (found["steps"], found["tool_calls"], found["longest_chain"]) == (4, 13, 2)


def test_what_is_left_of_each_limit_is_told() -> None:
    spent = RunState(spending=Spending(usage=Usage(tool_calls=4, tokens=10, calls={"send": 2})))

    left = estimate(PLAN, spent, Budget(tool_calls=10, cost_usd=1.5, replans=0, calls={"send": 1}))["budget_left"]

    assert left == {"tool_calls": 6, "cost_usd": 1.5, "replans": 0, "calls.send": -1}


def test_a_plan_without_steps_costs_nothing() -> None:
    assert estimate(Plan(answer="42"), RunState(), Budget())["longest_chain"] == 0


def test_further_attempts_are_counted_as_the_lowest_limits_allow() -> None:
    tools = {"get": ToolSpec("get", "", {}, "read", attempts=2), "send": ToolSpec("send", "", {}, "external")}
    plan = Plan(
        steps=(step("a", tool="get", attempts=5), step("b", tool="send", attempts=3, for_each=[1], max_items=2))
    )

    assert estimate(plan, RunState(), Budget())["tool_calls"] == 5 + 2 * 3
    found = estimate(plan, RunState(), Budget(), tools)
    assert (found["tool_calls"], found["further_attempts"]) == (2 + 2 * 3, 1 + 2 * 2)
    assert "further_attempts" not in estimate(plan, RunState(), Budget(), tools, AttemptLimits(attempts=1))


def test_a_count_is_never_more_than_a_checkpoint_holds() -> None:
    most = 2**63 - 1
    each = step("a", tool="get", for_each="{z_result}", max_items=most, attempts=most)
    plan = Plan(steps=(step("z", tool="get"), each))

    found = estimate(plan, RunState(), Budget())

    assert (found["tool_calls"], found["further_attempts"]) == (INT64[1], INT64[1])
