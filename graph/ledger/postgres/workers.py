"""Threads with a connection each: callers await, the event loop never blocks, and a lost connection is not an answer.

See `docs/decisions/0054-postgresql-on-threads.md` for the threads and `0055-append-ids.md` for what follows a loss.
"""

import asyncio
import queue
import threading
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar
from uuid import UUID, uuid4

import psycopg

from planner_executor.graph.ledger.awaited import Awaited
from planner_executor.graph.ledger.postgres.server import (
    LOOK_S,
    PATIENCE_S,
    Connection,
    Server,
    in_transaction,
    is_lost,
    roll_back,
)
from planner_executor.graph.ledger.postgres.transaction import LIMITS, READS, WRITES, Transaction

Result = TypeVar("Result")

LANES = 4
"""So many transactions of a process run at a time."""
ASIDE = LANES
"""The lane of work on no thread in particular: a list may take longer, and no run waits for it."""
AGAIN = (psycopg.errors.DeadlockDetected, psycopg.errors.SerializationFailure)
"""Errors of a transaction that the server ended in favour of another one."""
WRONG_GUESS = psycopg.errors.DivisionByZero
"""Error of a transaction that guessed how a run stands (`queries.guess`); it is done again at once."""


@dataclass(eq=False)
class _Work(Awaited):
    """A function to run in a transaction; `full`: survives the death of the server; not `writes`: read only.

    `is_open`: the connection was lost during the commit of `append`, so it may have taken place.
    """

    do: Callable[[Transaction], Any]
    full: bool
    writes: bool
    append: UUID = field(default_factory=uuid4)
    is_open: bool = False
    begun_s: float = 0.0
    again: tuple[type[psycopg.Error], ...] = AGAIN

    @property
    def begin(self) -> str:
        if not self.writes:
            return READS
        return f"{WRITES}; {LIMITS}; SET LOCAL synchronous_commit = {'on' if self.full else 'off'}"


_Queue = queue.SimpleQueue[_Work | None]


class Workers:
    """Runs functions in transactions, those of a thread of runs in the order of their calls, others beside them.

    `written` is called, on those threads, after events were committed.

    The threads start with their first work and hold no reference to their users. A user's event loop may be closed at
    any time.
    """

    def __init__(self, server: Server, written: Callable[[], None]) -> None:
        self._server, self._written = server, written
        self._lanes: dict[int, tuple[_Queue, threading.Thread]] = {}
        self._starting = threading.Lock()
        self._is_stopped = False

    async def run(
        self, do: Callable[[Transaction], Result], lane: int = ASIDE, *, full: bool = False, writes: bool = True
    ) -> Result:
        """Run `do` in a transaction and return its result after the commit; it may be run again after a loss.

        Work of one lane is done in order. Cancelling the caller does not stop the transaction.
        """
        done: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        with self._starting:
            if lane not in self._lanes:
                self._lanes[lane] = self._started()
            self._lanes[lane][0].put(_Work(do, full, writes, done=done))
        return await done

    def stop(self) -> None:
        """Let the threads finish queued work and end. Takes no lock, so that a finalizer may call it."""
        self._is_stopped = True
        for asked, _ in self._lanes.values():
            asked.put(None)

    async def ended(self) -> None:
        """Wait until the threads, if they are stopped, have closed their connections."""
        for _, thread in self._lanes.values() if self._is_stopped else ():
            await asyncio.to_thread(thread.join)

    def _started(self) -> tuple[_Queue, threading.Thread]:
        asked: _Queue = queue.SimpleQueue()
        thread = threading.Thread(
            target=_Serving(self._server, self._written).serve, args=(asked,), name="ledger-worker", daemon=True
        )
        thread.start()
        return asked, thread


def lane_of(thread: str) -> int:
    """Return the lane of a thread of runs."""
    return zlib.crc32(thread.encode("utf-8", "surrogatepass")) % LANES


class _Serving:
    """A thread's loop; it must not refer to `Workers`, or the thread would keep its users alive."""

    def __init__(self, server: Server, written: Callable[[], None]) -> None:
        self._server, self._written = server, written
        self._connection: Connection | None = None

    def serve(self, asked: _Queue) -> None:
        while (work := asked.get()) is not None:
            if not work.is_cancelled:
                try:
                    work.result = self._result(work)
                except Exception as error:  # noqa: BLE001  (passed to the caller; the thread must survive)
                    work.failure = error
            work.hand_back()
            del work  # an idle thread must keep no caller alive
        if self._connection is not None:
            self._connection.close()

    def _result(self, work: _Work) -> Any:
        """Run the work until its outcome is known; it is run again only if it left nothing behind."""
        until_s = time.monotonic() + self._server.left_s
        while True:
            try:
                if is_lost(self._connection):
                    self._connection = self._server.connect()
                if work.is_open and self._is_committed(work):
                    return work.result
                return self._transacted(work)
            # At once: the transaction left nothing behind, and the next one asks instead of guessing.
            except WRONG_GUESS:
                continue
            except psycopg.Error as error:
                # A connection that had worked was lost, so the server is waited for anew.
                if is_lost(self._connection) and work.begun_s:
                    until_s = max(until_s, work.begun_s + PATIENCE_S)
                    work.again = (*AGAIN, psycopg.errors.LockNotAvailable)  # its own lock, until the server notices
                elif not is_lost(self._connection) and not isinstance(error, work.again):
                    raise
                if time.monotonic() > until_s:
                    self._server.give_up()
                    raise
                time.sleep(LOOK_S)

    def _transacted(self, work: _Work) -> Any:
        assert self._connection is not None
        work.begun_s, tx = time.monotonic(), Transaction(self._connection, work.begin)
        try:
            work.result = work.do(tx)
            if work.writes:
                tx.tell("INSERT INTO ledger_appends (id, runs) VALUES (%s, %s)", work.append, sorted(tx.changed))
            tx.commit()
            if tx.changed:
                self._written()
        except BaseException:
            roll_back(self._connection)
            work.is_open = work.writes and tx.is_committing and is_lost(self._connection)
            raise
        return work.result

    def _is_committed(self, work: _Work) -> bool:
        """Whether the work's last transaction took place; if it did not, it cannot any more.

        Its id is written in its place: while it is still under way the server lets us wait, and whoever comes second
        fails. A later attempt has another id.
        """
        assert self._connection is not None
        query = "INSERT INTO ledger_appends (id) VALUES (%s) ON CONFLICT DO NOTHING RETURNING 1"
        is_mine = in_transaction(self._connection, f"{WRITES}; {LIMITS}", lambda tx: tx.ask(query, work.append))
        if is_mine:
            work.append, work.is_open = uuid4(), False
        return not is_mine
