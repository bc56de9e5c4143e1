"""Runs by their names, and the numbers by which the tables know them."""

from planner_executor.graph.ledger.search import CANDIDATES
from planner_executor.graph.ledger.tables.reader import Reader
from planner_executor.graph.record.run_key import RunKey, run_in

RUN = "SELECT id FROM ledger_runs WHERE thread = %s AND n = %s"
"""The number of a run, by thread and number in it."""
_PREFIXED = """SELECT thread, max(n) FROM ledger_runs WHERE thread >= %s AND thread < %s
    GROUP BY thread ORDER BY thread LIMIT %s"""


def runs_named(tx: Reader, name: str) -> list[RunKey]:
    """Return the run of that id, or the latest of that thread, or of each thread whose name begins so."""
    if (run := run_in(name)) is not None and id_of(tx, run) is not None:
        return [run]
    if last := last_number(tx, name):
        return [RunKey(name, last)]
    if not name:
        return []
    # A range up to the highest code point, and not LIKE, which would read `%` and `_` in a name.
    return [RunKey(*row) for row in tx.ask(_PREFIXED, name, name + chr(0x10FFFF), CANDIDATES)]


def id_of(tx: Reader, run: RunKey) -> int | None:
    """Return the number by which the tables know a run, None if it is not there."""
    row = tx.one(RUN, run.thread, run.n)
    return int(row[0]) if row else None


def last_number(tx: Reader, thread: str) -> int:
    """Return the number of the thread's latest run, 0 if there is none."""
    return int(tx.ask("SELECT coalesce(max(n), 0) FROM ledger_runs WHERE thread = %s", thread)[0][0])
