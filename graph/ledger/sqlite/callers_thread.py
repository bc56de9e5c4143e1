"""One connection, used on the thread of whoever asks: nothing waits for a disk, or for another thread to wake."""

import asyncio
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from planner_executor.graph.ledger.sqlite.connection import Connection
from planner_executor.graph.ledger.sqlite.transactions import Work, begin_at_once, commit
from planner_executor.graph.ledger.sqlite.writer import Pulse

Result = TypeVar("Result")


class CallersThread:
    """See `graph.ledger.sqlite.writers.Writer`; the pulse goes with the first call after `pulse_s` seconds.

    No other process sees the database, so the pulse may wait for a call.
    """

    def __init__(self, connection: Connection, pulse: Pulse, pulse_s: float) -> None:
        self._connection, self._pulse, self._pulse_s = connection, pulse, pulse_s
        self._pulse_at = time.monotonic() + pulse_s
        self._one = threading.Lock()

    async def run(self, do: Callable[[Connection], Result], **_: bool) -> Result:
        """Run `do` in a transaction and return its result."""
        work, batch = Work(do), list[Work]()
        with self._one:  # event loops on several threads may use it
            if time.monotonic() >= self._pulse_at:
                self._pulse_at = time.monotonic() + self._pulse_s
                batch = [Work(beat) for beat in self._pulse()]
            commit(self._connection, [*batch, work], begin_at_once)
        await asyncio.sleep(0)  # many calls in a row must not keep the event loop from other tasks
        if work.failure is not None:
            raise work.failure
        result: Result = work.result
        return result

    def stop(self) -> None:
        """Close the connection; what is in memory goes with it."""
        self._connection.close()

    async def ended(self) -> None:
        """Return: there is no thread to wait for."""
