"""Runs an observer on its own thread, so that a slow one does not block the event loop (decision 0008)."""

import asyncio
import contextvars
import queue
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING
from weakref import finalize

from planner_executor.graph.record.run_key import RunKey

if TYPE_CHECKING:
    from planner_executor.graph.record.events import Draft

Observer = Callable[[RunKey, "Sequence[Draft]"], None]
"""Called with a run and newly written events, in order, on the observer's own thread."""

_Outcome = asyncio.Future[Exception | None]
_Item = tuple[contextvars.Context, RunKey, "Sequence[Draft]", _Outcome]
_Queue = queue.SimpleQueue[_Item | None]


class Listener:
    """Calls one observer with events, in order; its thread ends when the listener is collected."""

    def __init__(self, observer: Observer) -> None:
        self.observer = observer
        self._queue: _Queue = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def notify(self, run: RunKey, drafts: "Sequence[Draft]") -> _Outcome:
        """Queue events for the observer; the future holds its exception, or None.

        The observer runs in a copy of the caller's context, so that tracing stays connected.
        """
        done: _Outcome = asyncio.get_running_loop().create_future()
        self._queue.put((contextvars.copy_context(), run, drafts, done))
        if self._thread is None or not self._thread.is_alive():  # first call, or in a forked process
            self._thread = threading.Thread(
                target=_serve, args=(self.observer, self._queue), name="observer", daemon=True
            )
            self._thread.start()
            finalize(self, self._queue.put, None).atexit = False
        return done


def _serve(observer: Observer, pending: _Queue) -> None:
    while (item := pending.get()) is not None:
        context, run, drafts, done = item
        failure: Exception | None = None
        try:
            context.run(observer, run, drafts)
        except Exception as error:  # noqa: BLE001  (foreign code; an observer must not fail the run)
            failure = error
        with suppress(RuntimeError):  # the loop is closed: the future has no waiter
            done.get_loop().call_soon_threadsafe(_settle, done, failure)
        # While the thread waits it must hold nothing: neither an event loop, by its future, nor a context.
        del item, context, run, drafts, done, failure


def _settle(done: _Outcome, failure: Exception | None) -> None:
    if not done.done():
        done.set_result(failure)
