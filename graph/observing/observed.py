"""A ledger that tells others of each event as it is written; nothing else has to know that somebody looks on."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, cast

from graph.ledger.protocol import Answer, Lease, Ledger, RunKey, unanswered
from graph.run.events import Draft
from graph.run.values import Kept

Observer = Callable[[RunKey, Sequence[Draft]], None]
"""Called with a run and events that have just been written, on the event loop: it must not block."""

LOGGER = logging.getLogger("planner_executor.observing")


class ObservedLedger:
    """The ledger behind it, and observers of what is written to it; one that fails is told nothing more."""

    def __init__(self, ledger: Ledger, observers: Sequence[Observer]) -> None:
        self._ledger, self._observers = ledger, list(observers)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger, name)

    async def open_run(self, thread: str, drafts: Sequence[Draft], artifacts: Sequence[Kept] = ()) -> RunKey:
        """See `Ledger.open_run`."""
        run = await self._ledger.open_run(thread, drafts, artifacts)
        self._tell(run, drafts)
        return run

    async def append(self, lease: Lease, drafts: Sequence[Draft], **more: Any) -> int:
        """See `Ledger.append`."""
        last = await self._ledger.append(lease, drafts, **more)
        self._tell(lease.run, drafts)
        return last

    async def take_messages(self, lease: Lease, answer: Answer = unanswered) -> list[str]:
        """See `Ledger.take_messages`."""
        written: list[Draft] = []

        def noted(messages: list[str]) -> Sequence[Draft]:
            written[:] = answer(messages)
            return written

        messages = await self._ledger.take_messages(lease, noted)
        if written:
            self._tell(lease.run, written)
        return messages

    def _tell(self, run: RunKey, drafts: Sequence[Draft]) -> None:
        for observer in tuple(self._observers):
            try:
                observer(run, drafts)
            except Exception as error:  # noqa: BLE001  (anybody's code; a run does not end because of who looks on)
                LOGGER.warning("an observer failed and is told nothing more: %r: %r", observer, error)
                self._observers.remove(observer)


def observed(ledger: Callable[[], Awaitable[Ledger]], observers: Sequence[Observer]) -> Callable[[], Awaitable[Ledger]]:
    """Return how to get the ledger with its observers."""
    found: list[Ledger] = []

    async def get() -> Ledger:
        inner = await ledger()
        if not found:
            found.append(cast("Ledger", ObservedLedger(inner, observers)))
        return found[0]

    return get
