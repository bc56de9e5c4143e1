"""A reply to a review request."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Reply:
    """The value a run is resumed with; `unseen` if no person saw the request."""

    decisions: dict[str, Any]
    unseen: bool = False
