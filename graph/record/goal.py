"""The goal of a run."""

from planner_executor.graph.data_class import dataclass


@dataclass(frozen=True)
class Goal:
    """A goal and its constraints."""

    goal: str
    constraints: tuple[str, ...] = ()
