"""What a run may spend, and what it has spent."""

from typing import Any

import pytest

from planner_executor.graph.record.budget import Budget, Usage
from planner_executor.graph.record.events import (
    Arguments,
    BudgetReached,
    CallStarted,
    Decided,
    Event,
    ModelFinished,
    ModelStarted,
    PlanRevised,
    RunReopened,
    RunStarted,
    Tokens,
)
from planner_executor.graph.record.spending import BudgetExhausted, Spending


def called(spending: Spending, step: str = "a", call: int = 0) -> Spending:
    data = CallStarted(key="k", call=call, tool="send", args=Arguments({}), repeatable=False, revision=1)
    spending.call_started(Event(1, "call_started", step, 0.0, {}), data)
    return spending


def asked(spending: Spending, step: str | None = None, **reserved: float) -> Spending:
    data = ModelStarted(key="m", role="planner", model="m", reserved=reserved)
    spending.model_started(Event(2, "model_started", step, 0.0, {}), data)
    return spending


def decision(**fields: Any) -> Decided:
    return Decided(digest=None, binding=None, decision="budget", by="person", **fields)


def test_a_step_counts_once_however_many_calls_it_makes() -> None:
    usage = called(called(called(Spending()), call=1), "b").usage

    assert (usage.steps, usage.tool_calls, usage.calls) == (2, 3, {"send": 3})


def test_the_items_of_a_step_are_calls_of_one_step() -> None:
    usage = called(called(Spending())).usage

    assert (usage.steps, usage.tool_calls) == (1, 2)


def test_a_call_of_a_model_begins_no_step() -> None:
    assert called(Spending(), call=1).usage.steps == 0


def test_a_run_begins_with_nothing_spent_and_nothing_due() -> None:
    spending = Spending()

    assert (spending.usage, spending.shortage, spending.replanner_is_due) == (Usage(), None, False)


def test_a_planners_question_counts_no_step_and_no_more_than_it_sets_aside() -> None:
    spending = asked(Spending())

    assert spending.usage == Usage(model_calls=1)
    assert not asked(Spending(), "a").replanner_is_due


def test_a_step_begins_with_the_first_question_to_its_model() -> None:
    assert asked(Spending(), "a").usage.steps == 1


def test_the_tokens_of_an_answer_count_whether_or_not_any_were_set_aside() -> None:
    for reserved in ({}, {"tokens": 100}):
        spending = asked(Spending(), **reserved)

        spending.model_finished(ModelFinished(key="m", role="planner", usage=Tokens(total_tokens=30)))

        assert spending.usage.tokens == 30

        spending.model_finished(ModelFinished(key="n", role="planner", usage=Tokens(total_tokens=5)))
        assert spending.usage.tokens == 35


def test_a_model_step_counts_once_with_its_calls() -> None:
    usage = called(asked(asked(Spending(), "a"), "a"), call=1).usage

    assert (usage.steps, usage.model_calls, usage.tool_calls) == (1, 2, 1)


def test_what_is_set_aside_counts_until_the_model_has_answered() -> None:
    spending = asked(Spending(), tokens=100, cost_usd=0.5)
    assert (spending.usage.tokens, spending.usage.cost_usd) == (100, 0.5)

    spending.model_finished(ModelFinished(key="m", role="planner", cost_usd=0.2, worked_s=3.0))

    assert (spending.usage.tokens, spending.usage.cost_usd, spending.usage.wall_s) == (0, pytest.approx(0.2), 3.0)
    assert spending.reserved == {}


def test_what_is_set_aside_is_told_apart_from_what_was_spent() -> None:
    spending = asked(Spending(), tokens=100, cost_usd=0.1)
    spending.model_finished(ModelFinished(key="m", role="planner", usage=Tokens(total_tokens=30), cost_usd=0.2))
    assert spending.aside == Usage()

    asked(spending, tokens=50, cost_usd=0.12345678912)

    assert spending.aside == Usage(tokens=50, cost_usd=0.123456789)


def test_a_decision_ends_a_shortage_and_may_raise_the_budget() -> None:
    spending = Spending()
    spending.run_started(RunStarted(goal="g", budget=Budget(tool_calls=1)))
    spending.budget_reached(BudgetReached(limit="tool_calls", left=("b",)))
    assert spending.shortage == BudgetExhausted("tool_calls", ("b",))

    spending.decided(decision())
    assert (spending.shortage, spending.budget) == (None, Budget(tool_calls=1))

    spending.decided(decision(budget=Budget(tool_calls=5)))
    assert spending.budget == Budget(tool_calls=5)


@pytest.mark.parametrize(("by", "is_due"), [("replanner", True), ("executor", False), (None, False)])
def test_a_replanner_that_could_not_be_asked_is_due(by: str | None, is_due: bool) -> None:
    spending = Spending()

    spending.budget_reached(BudgetReached(limit="model_calls", by=by))

    assert spending.replanner_is_due is is_due


@pytest.mark.parametrize(
    ("by", "prevents"), [("replanner", True), ("planner", True), ("executor", False), (None, False)]
)
def test_a_limit_prevents_planning_until_a_decision_a_change_or_a_plan(by: str | None, prevents: bool) -> None:
    def short() -> Spending:
        spending = Spending()
        spending.budget_reached(BudgetReached(limit="model_calls", by=by))
        return spending

    decided, steered, revised, reopened, again = (short() for _ in range(5))
    decided.decided(decision())
    steered.steered()
    revised.plan_revised(PlanRevised(revision=1, plan={"steps": []}, digest="d", author="planner"))
    reopened.decided(RunReopened(again=(), approver="os:ada"))
    again.budget_reached(BudgetReached(limit="tool_calls", by="executor"))

    assert short().prevents_planning is prevents and not Spending().prevents_planning
    assert not any(one.prevents_planning for one in (decided, steered, revised, reopened, again))


def test_a_replanner_is_due_until_it_is_asked_and_not_until_a_step_is() -> None:
    spending = Spending(replanner_is_due=True)

    assert asked(spending, "a").replanner_is_due
    assert not asked(spending).replanner_is_due


@pytest.mark.parametrize(("author", "replans"), [("replanner", 1), ("planner", 0)])
def test_a_revision_that_answers_a_failure_is_spent(author: str, replans: int) -> None:
    spending = Spending(replanner_is_due=True)

    spending.plan_revised(PlanRevised(revision=2, plan={"steps": []}, digest="d", author=author))

    assert (spending.usage.replans, spending.replanner_is_due) == (replans, False)


@pytest.mark.parametrize("worked_s", [None, 0.0])
def test_the_time_of_work_stays_if_an_event_has_none(worked_s: float | None) -> None:
    spending = Spending()
    spending.worked(4.0)

    spending.worked(worked_s)

    assert spending.usage.wall_s == 4.0


@pytest.mark.parametrize(("raised", "budget"), [(None, 1), (Budget(tool_calls=5), 5)])
def test_a_run_that_goes_on_is_short_of_nothing_and_may_have_another_budget(raised: Any, budget: int) -> None:
    spending = Spending(budget=Budget(tool_calls=1), shortage=BudgetExhausted("tool_calls", ()))

    spending.decided(RunReopened(approver="x", budget=raised))

    assert (spending.shortage, spending.budget.tool_calls) == (None, budget)


@pytest.mark.parametrize(("limit_s", "elapsed_s"), [(60.0, 7.6), (None, 0.0)])
def test_the_time_since_the_start_counts_if_it_is_limited(limit_s: float | None, elapsed_s: float) -> None:
    spending = Spending()
    spending.passed(7.56)

    assert spending.usage_under(Budget(elapsed_s=limit_s)).elapsed_s == elapsed_s
