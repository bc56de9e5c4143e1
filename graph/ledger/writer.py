"""One connection on a thread of its own: callers await, the event loop never waits, commits are shared."""

import asyncio
import queue
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, TypeVar

Result = TypeVar("Result")
Connect = Callable[[], sqlite3.Connection]
Pulse = Callable[[], list[Callable[[sqlite3.Connection], None]]]


@dataclass
class _Work:
    """Something to do in a transaction; `full` asks that it survives a power cut."""

    do: Callable[[sqlite3.Connection], Any]
    full: bool = False
    done: "Future[Any]" = field(default_factory=Future)


_Queue = queue.SimpleQueue[_Work | None]


class WriterThread:
    """Runs functions on the connection, one at a time; what waits meanwhile shares one commit.

    A function that raises leaves nothing behind and does not disturb its neighbours. `pulse` is called about every
    `pulse_s` seconds, whatever the event loop does; it returns the functions to run.
    """

    def __init__(self, connect: Connect, pulse: Pulse = list, pulse_s: float = 60.0) -> None:
        self._connect, self._pulse, self._pulse_s = connect, pulse, pulse_s
        self._queue: _Queue = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    async def run(self, do: Callable[[sqlite3.Connection], Result], *, full: bool = False) -> Result:
        """Run `do` in a transaction and return what it returns, once it is committed.

        A caller that is cancelled meanwhile does not stop the transaction.
        """
        work = _Work(do, full)
        with self._starting:
            if self._thread is None:
                self._queue = queue.SimpleQueue()  # the thread before may still be at work on its own
                self._thread = threading.Thread(
                    target=self._serve, args=(self._queue,), name="ledger-writer", daemon=True
                )
                self._thread.start()
            self._queue.put(work)
        result: Result = await asyncio.wrap_future(work.done)
        return result

    async def close(self) -> None:
        """Finish what was asked and close the connection."""
        with self._starting:
            thread, self._thread = self._thread, None
            if thread is not None:
                self._queue.put(None)
        if thread is not None:
            await asyncio.to_thread(thread.join)

    def _serve(self, asked: _Queue) -> None:
        connection: sqlite3.Connection | None = None
        stopping = False
        pulse_at = time.monotonic() + self._pulse_s
        while not stopping:
            batch, stopping = _take(asked, max(0.0, pulse_at - time.monotonic()))
            batch = [work for work in batch if work.done.set_running_or_notify_cancel()]
            if time.monotonic() >= pulse_at:
                pulse_at = time.monotonic() + self._pulse_s
                batch += [_Work(do) for do in self._pulse()]
            try:
                if batch:
                    connection = connection or self._connect()
                    _commit(connection, batch)
            except Exception as error:  # noqa: BLE001  (whatever it is, it belongs to those who wait for it)
                for work in batch:
                    if not work.done.done():
                        work.done.set_exception(error)
        if connection is not None:
            connection.close()


def _take(asked: _Queue, wait_s: float) -> tuple[list[_Work], bool]:
    """Return what is asked within a time, and whether to stop after it."""
    batch: list[_Work] = []
    try:
        item = asked.get(timeout=wait_s)
        while item is not None:
            batch.append(item)
            item = asked.get_nowait()
    except queue.Empty:
        return batch, False
    return batch, True


def _commit(connection: sqlite3.Connection, batch: list[_Work]) -> None:
    """Do a batch in one transaction; answers are given after the commit."""
    connection.execute(f"PRAGMA synchronous={'FULL' if any(work.full for work in batch) else 'NORMAL'}")
    answers: list[tuple[_Work, Any, Exception | None]] = []
    connection.execute("BEGIN IMMEDIATE")
    try:
        for work in batch:
            connection.execute("SAVEPOINT work")
            try:
                answers.append((work, work.do(connection), None))
            except Exception as error:  # noqa: BLE001  (given to the one who asked)
                connection.execute("ROLLBACK TO work")
                answers.append((work, None, error))
            connection.execute("RELEASE work")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    for work, answer, failure in answers:
        if failure is None:
            work.done.set_result(answer)
        else:
            work.done.set_exception(failure)
