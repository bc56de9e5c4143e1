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
Begin = Callable[[sqlite3.Connection, bool], None]


def begin_at_once(connection: sqlite3.Connection, writes: bool) -> None:
    """Begin a transaction; one that writes takes its turn now, one that reads needs none."""
    connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN")


@dataclass
class _Work:
    """Something to do in a transaction; `full`: it survives a power cut, not `writes`: it only reads."""

    do: Callable[[sqlite3.Connection], Any]
    full: bool = False
    writes: bool = True
    done: "Future[Any]" = field(default_factory=Future)


_Queue = queue.SimpleQueue[_Work | None]


class WriterThread:
    """Runs functions on the connection, one at a time; what waits meanwhile shares one commit.

    A function that raises leaves nothing behind and does not disturb its neighbours. `pulse` is called about every
    `pulse_s` seconds, whatever the event loop does; it returns the functions to run. `begin` begins a transaction.
    """

    def __init__(
        self, connect: Connect, pulse: Pulse = list, pulse_s: float = 60.0, begin: Begin = begin_at_once
    ) -> None:
        self._connect, self._pulse, self._pulse_s, self._begin = connect, pulse, pulse_s, begin
        self._queue: _Queue = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    async def run(
        self, do: Callable[[sqlite3.Connection], Result], *, full: bool = False, writes: bool = True
    ) -> Result:
        """Run `do` in a transaction and return what it returns, once it is committed.

        A caller that is cancelled meanwhile does not stop the transaction. What only reads waits for no other writer.
        """
        work = _Work(do, full, writes)
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
        full: bool | None = None
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
                    full = _synchronous(connection, full, any(work.full for work in batch))
                    _commit(connection, batch, self._begin)
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


def _synchronous(connection: sqlite3.Connection, is_full: bool | None, full: bool) -> bool:
    """Set whether commits wait for the disk, where they do not yet; SQLite reads such a setting slowly."""
    if is_full is not full:
        connection.execute(f"PRAGMA synchronous={'FULL' if full else 'NORMAL'}")
    return full


def _commit(connection: sqlite3.Connection, batch: list[_Work], begin: Begin) -> None:
    """Do a batch in one transaction; answers are given after the commit."""
    answers: list[tuple[_Work, Any, Exception | None]] = []
    begin(connection, any(work.writes for work in batch))
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
