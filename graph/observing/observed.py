"""A ledger that notifies observers of each event; transparent to its callers."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager, contextmanager, nullcontext
from typing import Any, Protocol, cast, runtime_checkable

from planner_executor.graph.ledger.protocol import Lease, Ledger, MessageHandler, Owned, no_events
from planner_executor.graph.observing.listener import Listener, Observer
from planner_executor.graph.observing.log import log_events
from planner_executor.graph.record.events import Draft, Event
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.values import Kept

LOGGER = logging.getLogger("planner_executor.observing")

TIMEOUT_S = 10.0
"""Seconds that an observer may take per notification; then it is dropped."""


Work = tuple[Any, ...]
"""The identity of a call within its run: step, item and number of a tool call, the key of a model call."""


@runtime_checkable
class Surrounding(Protocol):
    """An observer with a context for the duration of a call, such as a current span."""

    def around(self, run: RunKey, work: Work) -> AbstractContextManager[Any]:
        """Return the context of a call; the observer was notified of its start."""


class ObservedLedger:
    """Wraps a ledger; logs each written event and notifies the observers.

    An observer that fails or does not return in time is removed.
    """

    def __init__(self, ledger: Ledger, observers: Sequence[Observer], timeout_s: float = TIMEOUT_S) -> None:
        self._ledger, self._hung_s = ledger, timeout_s
        self._listeners = [Listener(observer) for observer in observers]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger, name)

    async def open_run(self, thread: str, drafts: Sequence[Draft], artifacts: Sequence[Kept] = ()) -> RunKey:
        """See `Ledger.open_run`."""
        run = await self._ledger.open_run(thread, drafts, artifacts)
        await self._notify(run, drafts)
        return run

    @asynccontextmanager
    async def begun(self, thread: str, drafts: Sequence[Draft], artifacts: Sequence[Kept] = ()) -> AsyncIterator[Owned]:
        """See `Ledger.begun`."""
        async with self._ledger.begun(thread, drafts, artifacts) as owned:
            await self._notify(owned.lease.run, drafts)
            yield owned

    @asynccontextmanager
    async def owned_and_read(self, run: RunKey, after: int = 0, opening: Sequence[Draft] = ()) -> AsyncIterator[Owned]:
        """See `Ledger.owned_and_read`."""
        async with self._ledger.owned_and_read(run, after, opening) as owned:
            if owned.opened:
                await self._notify(run, opening)
            yield owned

    async def append(self, lease: Lease, drafts: Sequence[Draft], **more: Any) -> int:
        """See `Ledger.append`."""
        last = await self._ledger.append(lease, drafts, **more)
        await self._notify(lease.run, drafts)
        return last

    async def write(self, by: Lease | RunKey, drafts: Sequence[Draft], **more: Any) -> list[Event]:
        """See `Ledger.write`."""
        events = await self._ledger.write(by, drafts, **more)
        await self._notify(by.run if isinstance(by, Lease) else by, drafts)
        return events

    async def take_messages(self, lease: Lease, answer: MessageHandler = no_events) -> list[str]:
        """See `Ledger.take_messages`."""
        written: list[Draft] = []

        def noted(messages: list[str]) -> Sequence[Draft]:
            written[:] = answer(messages)
            return written

        messages = await self._ledger.take_messages(lease, noted)
        if written:
            await self._notify(lease.run, written)
        return messages

    @property
    def surrounds(self) -> bool:
        """Whether an observer has a context for the duration of a call."""
        return any(isinstance(listener.observer, Surrounding) for listener in self._listeners)

    @contextmanager
    def around(self, run: RunKey, work: Work) -> Iterator[None]:
        """Enter the contexts of the observers for a call."""
        with ExitStack() as stack:
            for listener in self._listeners:
                if isinstance(listener.observer, Surrounding):
                    stack.enter_context(listener.observer.around(run, work))
            yield

    async def _notify(self, run: RunKey, drafts: Sequence[Draft]) -> None:
        log_events(run, drafts)
        # All are notified before any is waited for, so that a slow one does not hold up the others.
        notified = [(listener, listener.notify(run, drafts)) for listener in self._listeners]
        for listener, done in notified:
            try:
                async with asyncio.timeout(self._hung_s):
                    failure = await done
            except TimeoutError:
                failure = TimeoutError(f"it has not returned after {self._hung_s:g} s")
            # Another write that waited for it too may have removed it by now.
            if failure is not None and listener in self._listeners:
                LOGGER.warning("an observer failed and was removed: %r: %r", listener.observer, failure)
                self._listeners.remove(listener)


def around(ledger: Ledger, run: RunKey, work: Work) -> AbstractContextManager[None]:
    """Return the context of a call whose start is in the ledger."""
    return ledger.around(run, work) if isinstance(ledger, ObservedLedger) and ledger.surrounds else nullcontext()


def observed(ledger: Callable[[], Awaitable[Ledger]], observers: Sequence[Observer]) -> Callable[[], Awaitable[Ledger]]:
    """Return a factory of the ledger wrapped with its observers, created once."""
    created: list[Ledger] = []

    async def get() -> Ledger:
        inner = await ledger()
        if not created:
            created.append(cast("Ledger", ObservedLedger(inner, observers)))
        return created[0]

    return get
