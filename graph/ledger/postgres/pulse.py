"""The heartbeat of the leases that a process holds, on a thread and a connection of its own."""

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial

import psycopg

from planner_executor.graph.errors import LedgerError
from planner_executor.graph.ledger.postgres.changes import KEPT_S
from planner_executor.graph.ledger.postgres.server import Connection, Server, in_transaction, is_lost
from planner_executor.graph.ledger.postgres.transaction import LIMITS, WRITES, Transaction
from planner_executor.graph.ledger.protocol import Lease
from planner_executor.graph.ledger.tables.leases import beat

Pulse = Callable[[], Sequence[Lease]]
LOGGER = logging.getLogger("planner_executor.ledger")

SWEEP_S = 600.0


class PulseThread:
    """Beats every `pulse_s` seconds for the leases that `pulse` returns, even if event loops and workers are busy.

    It connects with the first lease. The thread holds no reference to its users.
    """

    def __init__(self, server: Server, pulse: Pulse, pulse_s: float) -> None:
        self._serving = _Serving(server, pulse, pulse_s)
        self._thread = threading.Thread(target=self._serving.serve, name="ledger-pulse", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Let the thread end. Takes no lock, so that a finalizer may call it."""
        self._serving.over.set()

    async def ended(self) -> None:
        """Wait until the thread, if it is stopped, has closed its connection."""
        if self._serving.over.is_set():
            await asyncio.to_thread(self._thread.join)


class _Serving:
    """The thread's loop; it must not refer to `PulseThread`."""

    def __init__(self, server: Server, pulse: Pulse, pulse_s: float) -> None:
        self._server, self._pulse, self._pulse_s = server, pulse, pulse_s
        self._connection: Connection | None = None
        self._swept_s = time.monotonic()
        self.over = threading.Event()

    def serve(self) -> None:
        while not self.over.wait(self._pulse_s):
            try:
                if held := self._pulse():
                    self._run(partial(beat, leases=held))
                if time.monotonic() - self._swept_s > SWEEP_S:
                    self._run(_sweep)
                    self._swept_s = time.monotonic()
            except (psycopg.Error, LedgerError) as error:
                LOGGER.debug("no heartbeat: %s", type(error).__name__)  # the lease expires, and the owner is told
        if self._connection is not None:
            self._connection.close()

    def _run(self, do: Callable[[Transaction], None]) -> None:
        if is_lost(self._connection):
            self._connection = self._server.connect()
        assert self._connection is not None
        # A heartbeat that a crash of the server takes is followed by the next one.
        in_transaction(self._connection, f"{WRITES}; {LIMITS}; SET LOCAL synchronous_commit = off", do)


def _sweep(tx: Transaction) -> None:
    """Remove old rows of appends, whose numbers grow with time; a lost connection asks for its own within seconds."""
    oldest = "SELECT number FROM ledger_appends WHERE at >= now() - make_interval(secs => %s) ORDER BY number LIMIT 1"
    tx.tell(f"DELETE FROM ledger_appends WHERE number < ({oldest})", KEPT_S)
