"""The goal of a run."""

from typing import NamedTuple


class Goal(NamedTuple):
    """A goal and its constraints."""

    goal: str
    constraints: tuple[str, ...] = ()
