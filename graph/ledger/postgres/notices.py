"""Notices that something was written: at most ten a second from a process, on a connection of their own.

A `NOTIFY` takes a lock over the whole database when it is committed, so none is part of an event's transaction. Notices
are hints: they may be lost, and nobody listens behind a pooler. Positions (`changes`) are what counts. See
`docs/decisions/0066-notify-aside.md`.
"""

import asyncio
import logging
import os
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field

import psycopg

from planner_executor.graph.errors import LedgerError
from planner_executor.graph.ledger.postgres.server import DIRECT, Connection, Server, is_lost, is_pooled

CHANNEL = "planner_executor"
GAP_S = 0.1
RETRY_S = 5.0
LOGGER = logging.getLogger("planner_executor.ledger")


@dataclass
class _Waiting:
    """Those who wait for a notice, and what wakes the thread; used by all threads of the process."""

    woken: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)
    futures: "set[asyncio.Future[None]]" = field(default_factory=set)
    is_written: bool = False
    is_listened: bool = False
    is_over: bool = False

    def wake_all(self) -> None:
        """Wake those who wait, each on its own event loop."""
        with self.lock:
            futures, self.futures = self.futures, set()
        for future in futures:
            with suppress(RuntimeError):  # its loop is closed
                future.get_loop().call_soon_threadsafe(_settle, future)


class Notices:
    """Sends and receives notices on a thread that starts with the first one; it holds no reference to its users."""

    def __init__(self, address: str) -> None:
        self._waiting = _Waiting()
        self._server = Server(os.environ.get(DIRECT) or address)
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def written(self) -> None:
        """Tell other processes, soon, that something was written."""
        self._waiting.is_written = True
        self._wake()

    async def wait(self, most_s: float) -> None:
        """Return when something may have been written, at the latest after `most_s` seconds."""
        # Among those who wait before the thread is woken, so that no notice passes in between.
        future = asyncio.get_running_loop().create_future()
        with self._waiting.lock:
            self._waiting.futures.add(future)
            self._waiting.is_listened = True
        self._wake()
        with suppress(TimeoutError):
            async with asyncio.timeout(most_s):
                await future
        with self._waiting.lock:
            self._waiting.futures.discard(future)

    def stop(self) -> None:
        """Let the thread end. Takes no lock, so that a finalizer may call it."""
        self._waiting.is_over = True
        self._waiting.woken.set()

    async def ended(self) -> None:
        """Wait until the thread, if it is stopped, has closed its connection."""
        if self._waiting.is_over and self._thread is not None:
            await asyncio.to_thread(self._thread.join)

    def _wake(self) -> None:
        self._waiting.woken.set()
        if self._thread is None:
            with self._starting:
                if self._thread is None:
                    serve = _Serving(self._server, self._waiting).serve
                    self._thread = threading.Thread(target=serve, name="ledger-notices", daemon=True)
                    self._thread.start()


class _Serving:
    """The thread's loop; it must not refer to `Notices`."""

    def __init__(self, server: Server, waiting: _Waiting) -> None:
        self._server, self._waiting = server, waiting
        self._connection: Connection | None = None
        self._listens = self._is_pooled = False

    def serve(self) -> None:
        waiting, pause_s = self._waiting, 0.0
        while not waiting.is_over:
            # A listener waits in `_pass_on` for notices of others; one that only sends is woken by its own writes.
            if not self._listens or pause_s:
                waiting.woken.wait(pause_s or None)
            waiting.woken.clear()
            try:
                self._pass_on()
                pause_s = 0.0
            except (psycopg.Error, LedgerError) as error:
                LOGGER.debug("no notices: %s", type(error).__name__)  # those who wait look for themselves
                pause_s = RETRY_S
        if self._connection is not None:
            self._connection.close()

    def _pass_on(self) -> None:
        """Send what is to be sent, and receive for a moment."""
        if is_lost(self._connection):
            self._connection, self._listens = self._server.connect(), False
            self._is_pooled = is_pooled(self._connection)
        assert self._connection is not None
        if self._waiting.is_listened and not (self._listens or self._is_pooled):
            self._connection.execute(f"LISTEN {CHANNEL}")
            self._listens = True
        if self._waiting.is_written:
            # Before it is sent: what is written meanwhile gets a notice of its own.
            self._waiting.is_written = False
            self._connection.execute(f"NOTIFY {CHANNEL}")
        if not self._listens:
            # What is written in this time shares one notice.
            time.sleep(GAP_S)
        elif any(True for _ in self._connection.notifies(timeout=GAP_S)):
            self._waiting.wake_all()


def _settle(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)
