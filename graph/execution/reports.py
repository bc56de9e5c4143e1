"""What a pass over a plan tells whoever watches it."""

from typing import Protocol

from planner_executor.graph.record.results import StepResult


class Reports(Protocol):
    """Receives changes as they happen, on the event loop of the run; it must not block."""

    def step(self, step: str, result: StepResult) -> None:
        """Report a step's change."""

    def item(self, step: str, place: int, result: StepResult) -> None:
        """Report the end of one item of a step's list, from 0."""

    def again(self, step: str, why: str) -> None:
        """Report that a step is tried once more, and why."""

    def person(self, step: str, result: StepResult) -> None:
        """Report that a person will be needed for a step; other steps may still be running."""
