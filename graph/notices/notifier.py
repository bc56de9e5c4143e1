"""An observer that sends notices right after a commit, beside the run (decision 81)."""

import atexit
import threading
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future, wait
from typing import Any, cast
from weakref import WeakSet

from graph.errors import AgentError
from graph.ledger.protocol import Ledger, RunKey
from graph.ledger.run_store import RunStore
from graph.lifetime import LoopThread
from graph.notices.addresses import Addresses, addresses_of
from graph.notices.posting import tell
from graph.observing.listener import Observer
from graph.observing.log import LOGGER
from graph.record.events import Draft, ReviewEscalated, ReviewReminded, ReviewRequested, RunEnded

OCCASIONS = (ReviewRequested, ReviewReminded, ReviewEscalated, RunEnded)
"""Events that may call for a notice."""
AT_EXIT_S = 10.0
"""How long the exit of a process waits for notices that are being sent; `work` sends the rest."""


class Notifier:
    """An observer that sends notices from a thread of its own, so that no run waits for a receiver."""

    def __init__(self, ledger: Callable[[], Awaitable[Ledger]], addresses: Addresses) -> None:
        self._open, self._addresses = ledger, addresses
        self._thread: LoopThread | None = None
        self._starting = threading.Lock()
        self._sending: Future[None] | None = None
        self._new: set[RunKey] = set()
        _all.add(self)

    def __call__(self, run: RunKey, drafts: Sequence[Draft]) -> None:
        """Send what is due if one of these events may call for a notice."""
        if any(isinstance(draft.data, OCCASIONS) for draft in drafts):
            with self._starting:
                self._new.add(run)
                # After a fork the thread exists in the parent alone.
                if self._thread is None or not self._thread.is_here:
                    self._thread, self._sending = LoopThread(), None
                if self._sending is None or self._sending.done():
                    self._sending = self._thread.begin(self._send())

    def finish(self, limit_s: float) -> None:
        """Wait until the notices under way are sent, at most `limit_s` seconds."""
        if self._sending is not None and self._thread is not None and self._thread.is_here:
            wait([self._sending], limit_s)

    async def _send(self) -> None:
        while self._new:
            try:
                ledger = cast("RunStore", await self._open())
                await tell(ledger, self._addresses, _log, self._taken)
            except AgentError as error:  # the ledger cannot be used; `work` sends what is left
                LOGGER.warning("notices were not sent: %s", error)
                self._taken()

    def _taken(self) -> set[RunKey]:
        with self._starting:
            runs, self._new = self._new, set()
        return runs


def _log(told: str) -> None:
    LOGGER.info("%s", told)


_all: WeakSet[Notifier] = WeakSet()


@atexit.register
def _finish_all() -> None:
    for notifier in tuple(_all):
        notifier.finish(AT_EXIT_S)


def with_notices(
    observers: Sequence[Observer], config: Any, ledger: Callable[[], Awaitable[Ledger]]
) -> Sequence[Observer]:
    """Return the observers, and one that sends notices if the settings file names addresses.

    Raises:
        ConfigError: Its table `[notify]` is invalid, or the file is not trusted.
    """
    addresses = addresses_of(config)
    return observers if addresses is None else [*observers, Notifier(ledger, addresses)]
