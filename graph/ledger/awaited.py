"""What a caller on an event loop waits for while a driver's thread does it."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import Any


@dataclass(eq=False, kw_only=True)
class Awaited:
    """Work for another thread, with its outcome; `done` is the caller's future, None for work without a caller."""

    done: "asyncio.Future[Any] | None" = None
    result: Any = None
    failure: BaseException | None = None

    @property
    def is_cancelled(self) -> bool:
        """Whether the caller does not wait any more."""
        return self.done is not None and self.done.cancelled()

    def hand_back(self) -> None:
        """Resolve the caller's future on its event loop, unless that loop is closed."""
        if self.done is not None:
            with suppress(RuntimeError):
                self.done.get_loop().call_soon_threadsafe(self._settle, self.done)

    def _settle(self, done: "asyncio.Future[Any]") -> None:
        if done.done():  # cancelled since the thread looked: a future takes one outcome
            return
        if self.failure is None:
            done.set_result(self.result)
        else:
            done.set_exception(self.failure)
