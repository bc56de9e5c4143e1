"""The chores of a worker, each as a task of its own, so that a slow one holds up neither runs nor other chores."""

import asyncio
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from planner_executor.graph.runs.runs import Runs
from planner_executor.graph.work.chores import Chore

BRIEF_S = 1.0
"""How long the worker waits for chores that it begins; a slow one goes on beside the runs."""


@dataclass
class ChoreTasks:
    """Begins chores when they are due; `clock` is monotonic."""

    clock: Callable[[], float]
    _begun_s: dict[str, float] = field(default_factory=dict, init=False)
    _going: "dict[str, asyncio.Task[Sequence[str]]]" = field(default_factory=dict, init=False)

    @property
    def is_busy(self) -> bool:
        """Whether a chore is under way."""
        return bool(self._going)

    async def turn(self, chores: Sequence[Chore], runs: Runs) -> list[str]:
        """Begin what is due, wait for it for a moment, and return what the chores that ended did."""
        # One chore at a time of each: one that takes long is not begun again beside itself.
        due = [chore for chore in chores if chore.name not in self._going and self._is_due(chore)]
        begun = {chore.name: asyncio.create_task(chore.do(runs)) for chore in due}
        # By when it began and not by when it ended, so that a slow one keeps its rhythm.
        self._begun_s.update(dict.fromkeys(begun, self.clock()))
        self._going.update(begun)
        if begun:
            # For a moment only: a chore that hangs must not keep runs from being taken up.
            await asyncio.wait(begun.values(), timeout=BRIEF_S)
        told: list[str] = []
        for name, task in [(name, task) for name, task in self._going.items() if task.done()]:
            del self._going[name]
            told += task.result()
        return told

    async def close(self) -> None:
        """Stop the chores that are under way."""
        for task in self._going.values():
            task.cancel()
        await asyncio.gather(*self._going.values(), return_exceptions=True)

    def _is_due(self, chore: Chore) -> bool:
        return self.clock() - self._begun_s.get(chore.name, -math.inf) >= chore.every_s
