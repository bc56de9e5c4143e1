"""A reply to a review request."""

from typing import Any

from planner_executor.graph.data_class import dataclass


@dataclass(frozen=True)
class Reply:
    """The value a run is resumed with; `unseen` if no person saw the request."""

    decisions: dict[str, Any]
    unseen: bool = False
