"""The result of a step."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import JsonValue

StepStatus = Literal["pending", "running", "succeeded", "failed", "blocked", "skipped", "interrupted", "uncertain"]


@dataclass(frozen=True)
class StepResult:
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
        return cls(**{name: payload.get(name) for name in cls.__dataclass_fields__})  # type: ignore[arg-type]

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
