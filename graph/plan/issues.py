"""Faults of a plan, worded so that its author can repair them."""

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as entry
from typing import Any

from planner_executor.graph.plan.shortening import shortened

PLACE_CHARACTERS = 120


@dataclass(frozen=True)
class Issue:
    """One fault: the step (None for the plan itself), the field, and a message that states the repair.

    All three are bounded in length; a long message keeps its beginning and its end, which hold the reasons.
    `by_policy`: the policy forbids it, and nothing else is wrong.
    """

    step: str | None
    field: str
    message: str
    by_policy: bool = entry(default=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.step is not None:
            object.__setattr__(self, "step", shortened(storable(self.step), PLACE_CHARACTERS))
        object.__setattr__(self, "field", shortened(storable(self.field), PLACE_CHARACTERS))
        object.__setattr__(self, "message", shortened(storable(self.message)))

    def __str__(self) -> str:
        """Return the issue as one line."""
        location = f"{self.step}.{self.field}" if self.step else self.field
        return f"{location}: {self.message}"

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> "Issue":
        """Parse the output of `to_json`."""
        return cls(raw.get("step"), raw.get("field", ""), raw.get("message", ""))

    def to_json(self) -> dict[str, str | None]:
        """Return the issue as JSON for the state and the review."""
        return {"step": self.step, "field": self.field, "message": self.message}


def storable(text: str) -> str:
    r"""Return a text with lone surrogates and NUL escaped, so that every record can store it.

    >>> print(storable("half a pair: \ud800"))
    half a pair: \ud800
    """
    return text.encode(errors="backslashreplace").decode().replace("\0", "\\x00")
