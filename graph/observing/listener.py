"""An observer on a thread of its own, which ends with the listener: one that hangs holds up no event loop."""

import asyncio
import contextvars
import queue
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from weakref import finalize

from graph.ledger.protocol import RunKey
from graph.record.events import Draft

Observer = Callable[[RunKey, Sequence[Draft]], None]
"""Called with a run and events that have just been written, in their order, on a thread of the observer's own."""

_Heard = asyncio.Future[Exception | None]
_Told = tuple[contextvars.Context, RunKey, Sequence[Draft], _Heard]
_Queue = queue.SimpleQueue[_Told | None]


class Listener:
    """Tells one observer of events, one after the other."""

    def __init__(self, observer: Observer) -> None:
        self.observer = observer
        self._told: _Queue = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def tell(self, run: RunKey, drafts: Sequence[Draft]) -> _Heard:
        """Tell the observer, in the caller's context, and return the future of how it failed, if it did."""
        heard: _Heard = asyncio.get_running_loop().create_future()
        self._told.put((contextvars.copy_context(), run, drafts, heard))
        if self._thread is None or not self._thread.is_alive():  # the first time, or in a forked process
            self._thread = threading.Thread(
                target=_serve, args=(self.observer, self._told), name="observer", daemon=True
            )
            self._thread.start()
            finalize(self, self._told.put, None).atexit = False
        return heard


def _serve(observer: Observer, told: _Queue) -> None:
    while (one := told.get()) is not None:
        context, run, drafts, heard = one
        failure: Exception | None = None
        try:
            context.run(observer, run, drafts)
        except Exception as error:  # noqa: BLE001  (anybody's code; a run does not end because of who looks on)
            failure = error
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            heard.get_loop().call_soon_threadsafe(_settle, heard, failure)
        del one, context, run, drafts, heard, failure


def _settle(heard: _Heard, failure: Exception | None) -> None:
    if not heard.done():
        heard.set_result(failure)
