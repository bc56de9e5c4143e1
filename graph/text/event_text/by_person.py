"""The text of the events by which a person changes a step."""

from planner_executor.graph.record.events import ResultSupplied, StepSkipped
from planner_executor.graph.text.event_text.sections import Words
from planner_executor.graph.text.event_text.values import content


def step_skipped(step: str, data: StepSkipped) -> Words:
    """Say who skipped the step, and why."""
    yield f"{step} is skipped by {data.approver}{f': {data.why}' if data.why else ''}"


def result_supplied(step: str, data: ResultSupplied) -> Words:
    """Say who gave the result of the step."""
    yield f"{data.approver} gave the result of {step}: {content(data.result)}"
