"""An effect that a request asks for."""

from dataclasses import dataclass

from planner_executor.graph.record.codec import Coded


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AskedEffect(Coded):
    """An effect that is asked for, in a few words, perhaps from outside; `undo` is False if it cannot be undone."""

    words: str
    effect: str
    undo: bool | None = None
