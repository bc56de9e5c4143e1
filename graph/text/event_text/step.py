"""The text of the events of steps: checks of results, and limits of the budget."""

from typing import assert_never

from planner_executor.graph.plan.check import describe_check
from planner_executor.graph.record.budget import spent_in_words
from planner_executor.graph.record.events import (
    BudgetReached,
    CapReached,
    ConditionEvaluated,
    StepChecked,
    StepFinished,
)
from planner_executor.graph.text.event_text.sections import Formatted, Words
from planner_executor.graph.text.event_text.values import outcome_text, until_text

StepEvent = StepFinished | StepChecked | ConditionEvaluated | BudgetReached | CapReached


def format_step(data: StepEvent, step: str) -> Formatted:
    """Return the sections and the text of an event of a step."""
    match data:
        case StepFinished():
            return ("steps",), iter([f"{step} {outcome_text(data.result)}"])
        case StepChecked():
            return ("steps",), _step_checked(step, data)
        case ConditionEvaluated():
            return ("steps",), _condition_evaluated(step, data)
        case BudgetReached():
            return ("budget",), _budget_reached(data)
        case CapReached():
            return ("budget",), iter([f"{step or 'planning'} waits: {data.allows}, used up{until_text(data.due_at)}"])
        case _:
            assert_never(data)


def _step_checked(step: str, data: StepChecked) -> Words:
    again = ", and it is tried once more" if data.again else ""
    yield f"the result of {step} {'meets its criteria' if data.met else 'does not meet its criteria'}{again}"
    for finding in data.checks:
        yield f"{'met' if finding.met else 'not met'}: {describe_check(finding.check)}: {finding.seen}"
    if (judged := data.judged) is not None:
        word = {True: "met", False: "not met", None: "not judged"}[judged.met]
        yield f"{word}: {judged.criterion}: {judged.why}"


def _condition_evaluated(step: str, data: ConditionEvaluated) -> Words:
    told = "may start: its condition is true" if data.met else "is skipped: its condition is false"
    yield f"{step} {told}: {data.condition}"


def _budget_reached(data: BudgetReached) -> Words:
    yield f"the budget's limit of {data.limit} was reached"
    yield f"spent: {spent_in_words(data.budget, data.spent)}"
    if data.left:
        yield f"left to do: {', '.join(data.left)}"
