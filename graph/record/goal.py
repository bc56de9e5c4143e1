"""The goal of a run."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Goal:
    """A goal and its constraints."""

    goal: str
    constraints: tuple[str, ...] = ()
