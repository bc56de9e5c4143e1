"""Errors that a step or a role of the run meets, which end as data in its record."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from planner_executor.graph.errors.root import AgentError


class UnresolvedReferenceError(AgentError):
    """A reference has no value in the results; its step fails."""

    def __init__(self, reference: str, why: str) -> None:
        self.reference = reference
        super().__init__(f"reference {reference}: {why}")


class ExpressionError(AgentError):
    """A JMESPath is invalid, does not fit its value, or takes too long; the message completes a sentence."""


class ResultError(AgentError):
    """A result cannot be stored as JSON without a change; its step fails."""

    def __init__(self, path: str, why: str) -> None:
        self.path = path
        super().__init__(f"result{path}: {why}")


class ModelCallError(AgentError):
    """Every chat model of a role failed; the run receives the message."""

    def __init__(self, model: str, attempts: Sequence[Mapping[str, Any]]) -> None:
        self.model = model
        self.attempts = tuple(attempts)
        counts = Counter(attempt["model"] for attempt in attempts)
        last = {attempt["model"]: attempt["error"] for attempt in attempts}
        failures = [
            f"{name} failed{f' {counts[name]} times' if counts[name] > 1 else ''}: {error}"
            for name, error in last.items()
        ]
        super().__init__("; ".join(failures) or f"{model} was not asked")
