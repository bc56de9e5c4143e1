"""The ledger in memory: a database of SQLite without a file, on the thread of whoever asks."""

import os
from collections.abc import Sequence
from contextlib import closing
from functools import cache
from pathlib import Path

from planner_executor.graph.errors import InputError
from planner_executor.graph.ledger.database_name import IN_MEMORY
from planner_executor.graph.ledger.lease import PACE, Pace
from planner_executor.graph.ledger.seal import SealKey
from planner_executor.graph.ledger.sqlite.callers_thread import CallersThread
from planner_executor.graph.ledger.sqlite.connection import Connection
from planner_executor.graph.ledger.sqlite.ledger import SqliteLedger
from planner_executor.graph.ledger.sqlite.migration import bring_up
from planner_executor.graph.ledger.sqlite.vacuum import places_of
from planner_executor.graph.ledger.sqlite.writers import MakeWriter, SharedWriter


class MemoryLedger(SqliteLedger):
    """See `graph.ledger.run_store`. The memory goes with the last ledger on it; a forked child begins with none."""

    def __init__(
        self, key: SealKey | None = None, memory: SharedWriter[CallersThread] | None = None, pace: Pace = PACE
    ) -> None:
        self.memory = memory or _memory(pace.beat_s)
        super().__init__(IN_MEMORY, key, pace, _writer_of(self.memory, pace.beat_s))

    async def give_back(self) -> bool:
        """Do nothing: there is no file."""
        return True

    async def back_up(self, file: Path) -> None:  # noqa: ARG002  (the signature of all ledgers)
        """Refuse: there is no file."""
        raise InputError("file", "a ledger in memory has no file to back up; export its runs")

    async def close(self) -> None:
        """Keep what is in memory."""

    async def _compacted(self, forms: Sequence[str]) -> list[str]:
        return await self._file.look(lambda db: places_of(db, forms))


def _memory(pulse_s: float) -> SharedWriter[CallersThread]:
    return SharedWriter(lambda pulse: CallersThread(_connected(), pulse, pulse_s))


def _writer_of(memory: SharedWriter[CallersThread], pulse_s: float) -> MakeWriter:
    async def writer() -> SharedWriter[CallersThread]:
        return memory if memory.process == os.getpid() else _memory(pulse_s)

    return writer


def _connected() -> Connection:
    connection = Connection(IN_MEMORY, check_same_thread=False)
    connection.deserialize(_empty())
    return connection


@cache
def _empty() -> bytes:
    """Return a database without runs; to make its tables for each ledger would take ten times as long."""
    with closing(Connection(IN_MEMORY)) as connection:
        bring_up(connection, IN_MEMORY)
        return connection.serialize()
