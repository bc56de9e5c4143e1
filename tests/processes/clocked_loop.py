"""An event loop whose time moves on when everything waits, and by as much as is waited for: nothing depends on load."""

import asyncio
import selectors
from typing import Any


class _Clock(selectors.DefaultSelector):
    """Says at once that the time has come which the loop would wait for; who waits for a thread waits for it."""

    now_s = 0.0

    def select(self, timeout: float | None = None) -> Any:
        happened = super().select(None if timeout is None else 0)
        if not happened and timeout:
            self.now_s += timeout
        return happened


class ClockedLoop(asyncio.SelectorEventLoop):
    """An event loop by that clock; work in threads takes no time on it."""

    def __init__(self) -> None:
        self._clock = _Clock()
        super().__init__(self._clock)

    def time(self) -> float:
        return self._clock.now_s
