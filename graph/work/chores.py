"""What falls due by a clock in a ledger: one row per chore, carried out by every worker.

A chore must be safe to be done by several workers at a time: what it changes is checked in the transaction that changes
it.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from graph.runs import Runs


@dataclass(frozen=True)
class Chore:
    """Something to look after every `every_s` seconds; `do` returns a sentence for each thing that it did."""

    name: str
    every_s: float
    do: Callable[[Runs], Awaitable[Sequence[str]]]


CHORES: tuple[Chore, ...] = ()
