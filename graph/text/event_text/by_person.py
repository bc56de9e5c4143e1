"""The text of the events by which a person changes a step."""

from typing import assert_never

from planner_executor.graph.record.events import ResultSupplied, StepSkipped
from planner_executor.graph.text.event_text.sections import Formatted
from planner_executor.graph.text.event_text.values import content

PersonEvent = StepSkipped | ResultSupplied


def format_person(data: PersonEvent, step: str) -> Formatted:
    """Return the sections and the text of an event by which a person changes a step."""
    match data:
        case StepSkipped():
            because = f": {data.why}" if data.why else ""
            return ("plans", "steps", "decisions"), iter([f"{step} is skipped by {data.approver}{because}"])
        case ResultSupplied():
            return ("steps", "decisions"), iter([f"{data.approver} gave the result of {step}: {content(data.result)}"])
        case _:
            assert_never(data)
