"""Events as JSON lines, for programs."""

import json
import time
from collections.abc import Sequence
from typing import Any, Protocol

from planner_executor.graph.record.events import Draft
from planner_executor.graph.record.run_key import RunKey, run_name


class Out(Protocol):
    """Where the lines go: a text file, or anything else that is written to in this way."""

    def write(self, text: str, /) -> object:
        """Take a text."""

    def flush(self) -> object:
        """Hand over what was written."""


class JsonLines:
    """Writes one object per event: `run`, `event`, `step`, `at` in Unix seconds, and the ledger's `payload`."""

    def __init__(self, out: Out) -> None:
        self._out = out

    def __call__(self, run: RunKey, drafts: Sequence[Draft]) -> None:
        """Write a line for each event appended to the ledger."""
        for draft in drafts:
            self.write(run_name(run.thread, run.n), draft.kind, draft.step, dict(draft.payload))

    def write(self, run: str, event: str, step: str | None, payload: dict[str, Any]) -> None:
        """Write one line and flush it."""
        about = {"run": run, "event": event, "step": step, "at": time.time()}
        self._out.write(json.dumps({**about, "payload": payload}, ensure_ascii=True, allow_nan=False) + "\n")
        self._out.flush()
