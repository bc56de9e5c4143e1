"""The result of a step."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, get_args

from pydantic import JsonValue

Settled = Literal["succeeded", "skipped"]
"""Statuses of a step that needs no more work."""
Ended = Literal[Settled, "failed"]
"""Statuses of a step that has ended."""
StepStatus = Literal[Ended, "pending", "running", "blocked", "interrupted", "uncertain"]
SETTLED, ENDED = get_args(Settled), get_args(Ended)


class StepResult(NamedTuple):
    """The status of a step, with its value, inline or as an artifact, or its error.

    Times are Unix seconds. `value` is meaningful only for a succeeded step; null is a valid value.
    """

    status: StepStatus
    value: JsonValue = None
    artifact: Mapping[str, Any] | None = None
    error: str | None = None
    started_at: float | None = None
    ended_at: float | None = None

    @classmethod
    def of(cls, payload: Mapping[str, Any]) -> "StepResult":
        """Read a result from the payload of an event or from the state."""
        return cls(**{name: payload.get(name) for name in cls._fields})  # type: ignore[arg-type]

    @property
    def seconds(self) -> float | None:
        """How long the step or the call took, None if that is not on record; a clock set back makes no debt."""
        if self.started_at is None or self.ended_at is None:
            return None
        return max(0.0, self.ended_at - self.started_at)

    def to_json(self) -> dict[str, Any]:
        """Return the result as the state shows it."""
        content: dict[str, Any] = {}
        if self.status == "succeeded":
            content = {"artifact": dict(self.artifact)} if self.artifact else {"value": self.value}
        return {
            "status": self.status,
            **content,
            "error": self.error,
            "started_at": self.started_at,
            "ended_at": self.ended_at,
        }
