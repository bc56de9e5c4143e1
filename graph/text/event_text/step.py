"""The text of the events of steps: checks of results, and limits of the budget."""

from planner_executor.graph.plan.check import describe_check
from planner_executor.graph.record.budget import spent_in_words
from planner_executor.graph.record.events import (
    BudgetReached,
    CapReached,
    ConditionEvaluated,
    StepChecked,
    StepFinished,
)
from planner_executor.graph.text.event_text.sections import Words
from planner_executor.graph.text.event_text.values import outcome_text, until_text


def step_finished(step: str, data: StepFinished) -> Words:
    """Say how the step came out."""
    yield f"{step} {outcome_text(data.result)}"


def step_checked(step: str, data: StepChecked) -> Words:
    """Say what the checks of the step found."""
    again = ", and it is tried once more" if data.again else ""
    yield f"the result of {step} {'meets its criteria' if data.met else 'does not meet its criteria'}{again}"
    for finding in data.checks:
        yield f"{'met' if finding.met else 'not met'}: {describe_check(finding.check)}: {finding.seen}"
    if (judged := data.judged) is not None:
        word = {True: "met", False: "not met", None: "not judged"}[judged.met]
        yield f"{word}: {judged.criterion}: {judged.why}"


def condition_evaluated(step: str, data: ConditionEvaluated) -> Words:
    """Say what the condition of the step came to."""
    told = "may start: its condition is true" if data.met else "is skipped: its condition is false"
    yield f"{step} {told}: {data.condition}"


def budget_reached(data: BudgetReached) -> Words:
    """Say which limit was reached."""
    yield f"the budget's limit of {data.limit} was reached"
    yield f"spent: {spent_in_words(data.budget, data.spent)}"
    if data.left:
        yield f"left to do: {', '.join(data.left)}"


def cap_reached(step: str, data: CapReached) -> Words:
    """Say which cap is used up."""
    yield f"{step or 'planning'} waits: {data.allows}, used up{until_text(data.due_at)}"
