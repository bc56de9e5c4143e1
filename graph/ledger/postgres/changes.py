"""Which runs have changed, by the numbers of the transactions that wrote to them.

Each transaction that writes leaves a row in `ledger_appends` anyway: its number and its runs are in that row too, and
cost no statement of their own. Transactions commit in another order than that of their numbers, so a position is the
number below which none is open any more. See `docs/decisions/0064-change-numbers.md`.
"""

from planner_executor.graph.ledger.postgres.transaction import Transaction
from planner_executor.graph.ledger.run_store import Changes
from planner_executor.graph.record.run_key import RunKey

KEPT_S = 86_400
"""Rows of `ledger_appends` are kept so long; an older position is not known any more."""

_NOW = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint, extract(epoch FROM now())::bigint"
_CHANGED = """SELECT thread, n FROM ledger_runs
    WHERE id IN (SELECT unnest(runs) FROM ledger_appends WHERE number >= %s) ORDER BY id"""


def changes(tx: Transaction, since: str | None) -> Changes:
    """Return the runs with events committed since a position; see `graph.ledger.run_store.RunStore.changes`."""
    number, now_s = tx.ask(_NOW)[0]
    position = f"{number}@{now_s}"
    if since is None:
        return Changes((), position)
    then, _, then_s = since.partition("@")
    if int(then) > number or now_s - int(then_s) > KEPT_S // 2:  # a server that crashed counts its lost numbers again
        return Changes((), position, is_complete=False)
    return Changes(tuple(RunKey(*row) for row in tx.ask(_CHANGED, int(then))), position)
