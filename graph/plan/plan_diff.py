"""What differs between two revisions of a plan."""

from collections.abc import Mapping
from typing import Any, NamedTuple


class PlanDiff(NamedTuple):
    """Ids of the steps that differ between two revisions, in plan order."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    answer: bool = False

    def __str__(self) -> str:
        """Return the difference as one line."""
        groups = (("added", self.added), ("changed", self.changed), ("removed", self.removed))
        words = [f"{name}: {', '.join(ids)}" for name, ids in groups if ids] + (
            ["answer changed"] if self.answer else []
        )
        return "; ".join(words) or "nothing changed"

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> "PlanDiff":
        """Parse the output of `to_json`."""
        added, changed, removed = (tuple(raw.get(name, ())) for name in ("added", "changed", "removed"))
        return cls(added, changed, removed, bool(raw.get("answer")))

    def to_json(self) -> dict[str, Any]:
        """Return the difference as JSON for the review."""
        return {
            "added": list(self.added),
            "changed": list(self.changed),
            "removed": list(self.removed),
            "answer": self.answer,
        }
