"""What a run is for."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Goal:
    """What is wanted, under which constraints."""

    goal: str
    constraints: tuple[str, ...] = ()
