"""An observer that sends notices right after a commit, beside the run (decision 81)."""

import asyncio
import atexit
import threading
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future, wait
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import cast
from weakref import WeakSet

from planner_executor.graph.errors import AgentError
from planner_executor.graph.ledger.protocol import Ledger
from planner_executor.graph.ledger.run_store import RunStore
from planner_executor.graph.lifetime import LoopThread
from planner_executor.graph.notices.addresses import Addresses
from planner_executor.graph.notices.posting import tell
from planner_executor.graph.observing.log import LOGGER
from planner_executor.graph.record.events import Draft, ReviewEscalated, ReviewReminded, ReviewRequested, RunEnded
from planner_executor.graph.record.run_key import RunKey
from planner_executor.tools.context_value import set_within

OCCASIONS = (ReviewRequested, ReviewReminded, ReviewEscalated, RunEnded)
"""Events that may call for a notice."""
AT_END_S = 10.0
"""How long the end of an agent or of the process waits for notices on their way; `work` sends the rest."""

Answers = Callable[[ReviewRequested], bool]
_answers: ContextVar[Answers | None] = ContextVar("answers", default=None)


def answering(answers: Answers) -> AbstractContextManager[None]:
    """Within the block, announce no request that the caller answers by itself at once, as `--yes` does."""
    return set_within(_answers, answers)


class Notifier:
    """An observer that sends notices from a thread of its own, so that no run waits for a receiver.

    It is closed with the agent, before the agent's ledger.
    """

    def __init__(self, ledger: Callable[[], Awaitable[Ledger]], addresses: Addresses) -> None:
        self._open, self._addresses = ledger, addresses
        self._thread: LoopThread | None = None
        self._starting = threading.Lock()
        self._sending: Future[None] | None = None
        self._new: set[RunKey] = set()
        _all.add(self)

    def __call__(self, run: RunKey, drafts: Sequence[Draft]) -> None:
        """Send what is due if one of these events may call for a notice."""
        if any(map(_is_occasion, drafts)):
            with self._starting:
                self._new.add(run)
                # After a fork the thread exists in the parent alone.
                if self._thread is None or not self._thread.is_here:
                    self._thread, self._sending = LoopThread(), None
                # One task at a time; one that is under way takes up what is new before it ends.
                if self._sending is None or self._sending.done():
                    self._sending = self._thread.begin(self._send())

    def finish(self, limit_s: float) -> None:
        """Wait until the notices under way are sent, at most `limit_s` seconds."""
        if (sending := self._under_way) is not None:
            wait([sending], limit_s)

    async def aclose(self) -> None:
        """Wait as `finish` does, without holding up the event loop, and end the thread."""
        if (sending := self._under_way) is not None:
            await asyncio.wait([asyncio.wrap_future(sending)], timeout=AT_END_S)
        if self._thread is not None:
            await asyncio.to_thread(self._thread.stop, AT_END_S)

    @property
    def _under_way(self) -> Future[None] | None:
        return self._sending if self._thread is not None and self._thread.is_here else None

    async def _send(self) -> None:
        while self._new:
            try:
                ledger = cast("RunStore", await self._open())
                await tell(ledger, self._addresses, _log, self._taken)
            except AgentError as error:  # the ledger cannot be used; `work` sends what is left
                LOGGER.warning("notices were not sent: %s", error)
                # Otherwise the same notices would be tried again for ever.
                self._taken()

    def _taken(self) -> set[RunKey]:
        with self._starting:
            runs, self._new = self._new, set()
        return runs


def _is_occasion(draft: Draft) -> bool:
    event, answers = draft.data, _answers.get()
    if isinstance(event, ReviewRequested) and answers is not None and answers(event):
        return False
    return isinstance(event, OCCASIONS)


def _log(told: str) -> None:
    LOGGER.info("%s", told)


_all: WeakSet[Notifier] = WeakSet()


@atexit.register
def _finish_all() -> None:
    for notifier in tuple(_all):
        notifier.finish(AT_END_S)
