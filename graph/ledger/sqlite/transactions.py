"""Functions in a transaction of SQLite: several share one commit, and each has its own result or failure."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from planner_executor.graph.ledger.awaited import Awaited
from planner_executor.graph.ledger.sqlite.connection import Connection

Begin = Callable[[Connection, bool], None]


def begin_at_once(connection: Connection, writes: bool) -> None:
    """Begin a transaction; one that writes takes the write lock now, one that reads takes none."""
    connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN")


@dataclass(eq=False)
class Work(Awaited):
    """A function to run in a transaction; `full`: survives a power cut; not `writes`: read only.

    Nobody waits for work of the pulse.
    """

    do: Callable[[Connection], Any]
    full: bool = False
    writes: bool = True


def commit(connection: Connection, batch: list[Work], begin: Begin) -> None:
    """Run a batch in one transaction; each member then has a result or a failure."""
    begin(connection, any(work.writes for work in batch))
    try:
        for work in batch:
            _do(connection, work, alone=len(batch) == 1)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _do(connection: Connection, work: Work, alone: bool) -> None:
    """Run one member of a batch in a savepoint of its own; a batch of one needs none."""
    if alone:
        work.result = work.do(connection)
        return
    if work.writes:
        connection.execute("SAVEPOINT work")
    try:
        work.result = work.do(connection)
    except Exception as error:  # noqa: BLE001  (passed to the caller)
        work.failure = error  # only this caller fails; the rest of the batch is still committed
        if work.writes:
            connection.execute("ROLLBACK TO work")
    if work.writes:
        connection.execute("RELEASE work")
