"""What is noted anew when the tables of an earlier version are brought to this one."""

import time

from planner_executor.graph.ledger.tables.families import renew_families
from planner_executor.graph.ledger.tables.schema import CONTROL_INDEX, add
from planner_executor.graph.ledger.tables.standing import shorten
from planner_executor.graph.ledger.tables.transaction import Transaction
from planner_executor.graph.ledger.tables.uses import note_all_uses
from planner_executor.graph.record.standing_approval import LONGEST_S


def bring_on(tx: Transaction, database: str) -> None:
    """Make what the tables of an earlier version lack, and fill it from the events, which stay as they are."""
    add(tx)
    tx.script(f"DROP INDEX IF EXISTS ledger_control; {CONTROL_INDEX}")  # it has the kinds of the older version
    note_all_uses(tx)
    renew_families(tx)
    # Earlier versions gave standing approvals for any length of time.
    shorten(tx, database, time.time() + LONGEST_S)
