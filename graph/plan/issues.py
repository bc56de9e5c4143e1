"""What is wrong with a plan, said so that its author can mend it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from graph.plan.shortening import shortened

PLACE_CHARACTERS = 120


@dataclass(frozen=True)
class Issue:
    """One fault: the step it is in (None for the plan itself), the field, and what to do about it.

    Each is bounded in length; a message keeps its beginning and its end, where reasons stand.
    """

    step: str | None
    field: str
    message: str

    def __post_init__(self) -> None:
        if self.step is not None:
            object.__setattr__(self, "step", shortened(storable(self.step), PLACE_CHARACTERS))
        object.__setattr__(self, "field", shortened(storable(self.field), PLACE_CHARACTERS))
        object.__setattr__(self, "message", shortened(storable(self.message)))

    def __str__(self) -> str:
        """Return the issue as one line."""
        where = f"{self.step}.{self.field}" if self.step else self.field
        return f"{where}: {self.message}"

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> "Issue":
        """Read what `to_json` wrote."""
        return cls(raw.get("step"), raw.get("field", ""), raw.get("message", ""))

    def to_json(self) -> dict[str, str | None]:
        """Return the issue as the state and the review show it."""
        return asdict(self)


def storable(text: str) -> str:
    r"""Return words that may quote anything as words that every record can hold.

    >>> print(storable("half a pair: \ud800"))
    half a pair: \ud800
    """
    return text.encode(errors="backslashreplace").decode().replace("\0", "\\x00")
