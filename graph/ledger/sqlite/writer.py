"""One connection on its own thread: callers await, the event loop never blocks, commits are shared.

See `docs/decisions/0008-daemon-threads.md` for the thread and `docs/decisions/0009-lease.md` for the pulse.
"""

import asyncio
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from planner_executor.graph.ledger.sqlite.connection import Connection
from planner_executor.graph.ledger.sqlite.transactions import Begin, Work, begin_at_once, commit

Result = TypeVar("Result")
Connect = Callable[[], Connection]
Pulse = Callable[[], list[Callable[[Connection], None]]]

REST_S = 1.0
"""How long a process that forks waits for the writer to close its connection."""


@dataclass(eq=False)
class _Rest:
    """Request to close the connection (`begun`) and to wait until the fork is `over`."""

    begun: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)


_Item = Work | _Rest | None
_Queue = queue.SimpleQueue[_Item]


class WriterThread:
    """Runs functions on the connection, one at a time; functions queued in the meantime share one commit.

    A function that raises is rolled back without effect on the others in its commit. `pulse` is called about every
    `pulse_s` seconds, even if the event loop is blocked; it returns functions to run. `begin` begins a transaction.
    The thread holds no reference to its users, and a user's event loop may be closed at any time.
    """

    def __init__(
        self, connect: Connect, pulse: Pulse = list, pulse_s: float = 60.0, begin: Begin = begin_at_once
    ) -> None:
        self._serving = _Serving(connect, pulse, pulse_s, begin)
        self._queue: _Queue = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._ending: threading.Thread | None = None
        self._starting = threading.Lock()

    async def run(self, do: Callable[[Connection], Result], *, full: bool = False, writes: bool = True) -> Result:
        """Run `do` in a transaction and return its result after the commit.

        Cancelling the caller does not stop the transaction. With `writes=False` it does not wait for other writers.
        """
        done: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        with self._starting:
            if self._thread is None:
                self._queue = queue.SimpleQueue()  # a stopped thread may still be draining the previous queue
                self._thread = threading.Thread(
                    target=self._serving.serve, args=(self._queue,), name="ledger-writer", daemon=True
                )
                self._thread.start()
            self._queue.put(Work(do, full, writes, done=done))
        return await done

    async def close(self) -> None:
        """Finish queued work and close the connection."""
        with self._starting:
            self.stop()
        await self.ended()

    def stop(self) -> None:
        """Let the thread finish queued work and end. Takes no lock, so that a finalizer may call it."""
        if self._thread is not None:
            self._ending, self._thread = self._thread, None
            self._queue.put(None)

    async def ended(self) -> None:
        """Wait until the stopped thread has closed its connection."""
        if self._ending is not None:
            await asyncio.to_thread(self._ending.join)

    def rest(self) -> Callable[[], None]:
        """Close the connection before the process forks; return the function that lets the thread go on."""
        rest = _Rest()
        if self._thread is not None:
            self._queue.put(rest)
            # Bounded: the transaction under way may itself wait for another process's lock.
            rest.begun.wait(REST_S)
        return rest.over.set


class _Serving:
    """The thread's loop; it must not refer to `WriterThread`, or the thread would keep its users alive."""

    def __init__(self, connect: Connect, pulse: Pulse, pulse_s: float, begin: Begin) -> None:
        self._connect, self._pulse, self._pulse_s, self._begin = connect, pulse, pulse_s, begin

    def serve(self, asked: _Queue) -> None:
        connection: Connection | None = None
        full: bool | None = None
        pulse_at = time.monotonic() + self._pulse_s
        while True:
            batch, stop = _take(asked, max(0.0, pulse_at - time.monotonic()))
            if time.monotonic() >= pulse_at:
                pulse_at = time.monotonic() + self._pulse_s
                batch += [Work(do) for do in self._pulse()]
            try:
                if batch:
                    connection = connection or self._connect()
                    # One commit for the batch, so one member that must survive a power cut decides for all.
                    full = _synchronous(connection, full, any(work.full for work in batch))
                    commit(connection, batch, self._begin)
            except Exception as error:  # noqa: BLE001  (passed to every waiting caller; the thread must survive)
                for work in batch:
                    work.failure = error
            _hand_back(batch)
            del batch  # an idle thread must keep no caller alive
            if stop is not None and connection is not None:
                connection.close()
                connection = full = None
            if isinstance(stop, _Rest):
                stop.begun.set()
                stop.over.wait()
            elif stop is not None:
                return


_END = object()


def _take(asked: _Queue, wait_s: float) -> "tuple[list[Work], _Rest | object | None]":
    """Return the work queued within `wait_s`, and the reason to stop after it: a rest, the end, or None."""
    batch: list[Work] = []
    try:
        item = asked.get(timeout=wait_s)
        while isinstance(item, Work):
            if not item.is_cancelled:
                batch.append(item)
            item = asked.get_nowait()
    except queue.Empty:
        return batch, None
    return batch, _END if item is None else item


def _hand_back(batch: list[Work]) -> None:
    for work in batch:  # not in the loop that waits, where `work` would keep the last caller alive
        work.hand_back()


def _synchronous(connection: Connection, is_full: bool | None, full: bool) -> bool:
    """Set whether commits wait for the disk, only if it changes: the pragma is slow."""
    if is_full is not full:
        connection.execute(f"PRAGMA synchronous={'FULL' if full else 'NORMAL'}")
    return full
