"""What a run is called: by the ledger, and by people."""

from typing import NamedTuple

NUMBER_DIGITS = 18
"""Longer numbers cannot be run numbers (64 bits)."""


class RunKey(NamedTuple):
    """A run in the ledger: the `n`-th of its thread, counted from 1."""

    thread: str
    n: int

    @property
    def id(self) -> str:
        """The run's name."""
        return run_name(self.thread, self.n)


def run_name(thread: str, n: int) -> str:
    """Return the name of a run for people and commands."""
    return f"{thread}.{n}"


def run_in(name: str) -> RunKey | None:
    """Parse a run id; return None if the name is not one.

    >>> run_in("demo.2"), run_in("demo")
    (RunKey(thread='demo', n=2), None)
    """
    thread, _, number = name.rpartition(".")
    if not (number.isdecimal() and number.isascii() and len(number) <= NUMBER_DIGITS):
        return None
    return RunKey(thread, int(number))
