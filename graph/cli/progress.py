"""Progress, step by step: a line for each change, and in a terminal what runs right now below them."""

import time
from collections.abc import Mapping
from contextlib import ExitStack
from types import TracebackType
from typing import Any

from rich.live import Live
from rich.text import Text

from graph.cli.screen import Screen, cell
from graph.sanitize import one_line
from graph.text.drawing.statuses import LOOKS

SHOWN = 8
"""How many running steps are listed in a terminal at once."""

ERROR_CHARACTERS = 500

STYLES = {"succeeded": "green", "failed": "red", "blocked": "yellow", "uncertain": "yellow"}


class Progress:
    """Called with each step's changes; `words` say what goes on where no step runs."""

    def __init__(self, screen: Screen, words: str) -> None:
        self._screen, self._words = screen, words
        self._begun = time.time()
        self._running: dict[str, float] = {}
        self._far: dict[str, str] = {}
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
        """Tell of a change."""
        step, status = str(change["step"]), str(change["status"])
        if progress := change.get("progress"):
            self._far[step] = str(progress["text"])
            return
        self._far.pop(step, None)
        if status == "running":
            self._running[step] = change["started_at"] or time.time()
            if not self._screen.is_live:
                self._screen.say(f"{step} running …")
            return
        self._running.pop(step, None)
        self._screen.show_text(f"{LOOKS[status].mark} {step} {status}{self._details(change)}", STYLES.get(status, ""))

    def _details(self, change: Mapping[str, Any]) -> str:
        started_at, ended_at, error = change["started_at"], change["ended_at"], change["error"]
        earlier = ended_at is not None and ended_at < self._begun
        took = "" if started_at is None or ended_at is None else f" in {ended_at - started_at:.1f} s"
        return (" earlier" if earlier else took) + (f": {one_line(error, ERROR_CHARACTERS)}" if error else "")

    def _now(self) -> Text:
        """Return what is seen below the lines."""
        running = list(self._running.items())
        if not running:
            return cell(f"{self._words} … {time.time() - self._begun:.0f} s", "dim")
        lines = [
            f"{LOOKS['running'].mark} {step} running {time.time() - at:.1f} s{self._told(step)}"
            for step, at in running[:SHOWN]
        ]
        if more := len(running) - SHOWN:
            lines += [f"and {more} more"] if more > 0 else []
        return Text("\n").join(cell(line, "dim") for line in lines)

    def _told(self, step: str) -> str:
        return f": {self._far[step]}" if step in self._far else ""
