"""One connection, used on the thread of whoever asks: nothing waits for a disk, or for another thread to wake."""

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

from planner_executor.graph.ledger.sqlite.connection import Connection
from planner_executor.graph.ledger.sqlite.transactions import Begin, Work, begin_at_once, commit
from planner_executor.graph.ledger.sqlite.writer import Connect, Pulse, WriterThread

Result = TypeVar("Result")


class CallersThread(WriterThread):
    """See `WriterThread`; the pulse goes with the first function that is run after `pulse_s` seconds.

    Nobody else sees the database, so no one notices a pulse that waits until somebody looks.
    """

    def __init__(
        self, connect: Connect, pulse: Pulse = list, pulse_s: float = 60.0, begin: Begin = begin_at_once
    ) -> None:
        super().__init__(connect, pulse, pulse_s, begin)
        self._connection = connect()
        self._pulse, self._pulse_s, self._begin = pulse, pulse_s, begin
        self._pulse_at = time.monotonic() + pulse_s

    async def run(self, do: Callable[[Connection], Result], **_: bool) -> Result:
        """Run `do` in a transaction and return its result."""
        work, batch = Work(do), list[Work]()
        with self._starting:
            if time.monotonic() >= self._pulse_at:
                self._pulse_at = time.monotonic() + self._pulse_s
                batch = [Work(beat) for beat in self._pulse()]
            commit(self._connection, [*batch, work], self._begin)
        await asyncio.sleep(0)  # whoever asks again and again must not keep its event loop from others
        if work.failure is not None:
            raise work.failure
        result: Result = work.result
        return result

    def stop(self) -> None:
        """Close the connection, with which goes all that is in it."""
        self._connection.close()
