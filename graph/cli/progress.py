"""Progress of a run: a line per status change and, in a terminal, a live list of the running steps below."""

import time
from collections.abc import Mapping
from contextlib import ExitStack
from types import TracebackType
from typing import Any

from rich.live import Live
from rich.text import Text

from planner_executor.graph.cli.screen import Screen, cell
from planner_executor.graph.plain_text.sanitize import one_line
from planner_executor.graph.text.drawing.statuses import LOOKS

SHOWN = 8
"""Running steps listed in a terminal, at most."""

ERROR_CHARACTERS = 500

STYLES = {"succeeded": "green", "failed": "red", "blocked": "yellow", "uncertain": "yellow"}


class Progress:
    """Callback for step status changes; `activity` is displayed while no step is running."""

    def __init__(self, screen: Screen, activity: str) -> None:
        self._screen, self._activity = screen, activity
        self._started_at = time.time()
        self._running: dict[str, float] = {}
        self._reported: dict[str, str] = {}
        self._open = ExitStack()

    def __enter__(self) -> "Progress":
        if self._screen.is_live:
            live = Live(console=self._screen.out, get_renderable=self._now, transient=True, refresh_per_second=8)
            self._open.enter_context(live)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.__exit__(kind, error, trace)

    def __call__(self, change: Mapping[str, Any]) -> None:
        """Print a change."""
        step, status = str(change["step"]), str(change["status"])
        if change["kind"] in ("item", "person"):  # both are in what the step itself comes to
            return
        if progress := change["progress"]:
            self._reported[step] = f": {progress['text']}"
            return
        # What a call reported belongs to the status before.
        self._reported.pop(step, None)
        if status == "running":
            if change["error"]:
                self._screen.show_text(f"{step} is tried again: {one_line(change['error'], ERROR_CHARACTERS)}")
                return
            self._running[step] = change["started_at"] or time.time()
            if not self._screen.is_live:
                self._screen.say(f"{step} running …")
            return
        self._running.pop(step, None)
        self._screen.show_text(f"{LOOKS[status].mark} {step} {status}{self._details(change)}", STYLES.get(status, ""))

    def _details(self, change: Mapping[str, Any]) -> str:
        started_at, ended_at, error = change["started_at"], change["ended_at"], change["error"]
        # Steps of a run that is resumed are told once more as they stand; how long they took was said before.
        earlier = ended_at is not None and ended_at < self._started_at
        took = "" if started_at is None or ended_at is None else f" in {ended_at - started_at:.1f} s"
        return (" earlier" if earlier else took) + (f": {one_line(error, ERROR_CHARACTERS)}" if error else "")

    def _now(self) -> Text:
        """Return the live list."""
        running = list(self._running.items())
        if not running:
            return cell(f"{self._activity} … {time.time() - self._started_at:.0f} s", "dim")
        lines = [
            f"{LOOKS['running'].mark} {step} running {time.time() - at:.1f} s{self._reported.get(step, '')}"
            for step, at in running[:SHOWN]
        ]
        if more := len(running) - SHOWN:
            lines += [f"and {more} more"] if more > 0 else []
        return Text("\n").join(cell(line, "dim") for line in lines)
