"""The table of standing approvals."""

from collections.abc import Collection, Sequence
from itertools import groupby

from planner_executor.graph.ledger.chain import COLUMNS, Row
from planner_executor.graph.ledger.search import UNDER_WAY
from planner_executor.graph.ledger.standing import (
    given_row,
    may_cover,
    redacted_rows,
    revoked_row,
    shortened_rows,
    use_of,
    used_row,
)
from planner_executor.graph.ledger.tables.dialect import AMONG, BY_KEY, BYTES, INT, NAME, REAL
from planner_executor.graph.ledger.tables.run_names import id_of
from planner_executor.graph.ledger.tables.transaction import Transaction
from planner_executor.graph.record.events import StandingGiven
from planner_executor.graph.record.redaction import Redactor
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.standing_approval import StandingApproval, StandingCall, StandingUse

TABLES = f"""
CREATE TABLE IF NOT EXISTS ledger_standing (
    approval {NAME} NOT NULL,
    seq {INT} NOT NULL,
    kind {NAME} NOT NULL,
    step {NAME},
    at {REAL} NOT NULL,
    payload {NAME} NOT NULL,
    salt {BYTES} NOT NULL,
    digest {BYTES} NOT NULL,
    link {BYTES} NOT NULL,
    PRIMARY KEY (approval, seq)
){BY_KEY};
"""
_FIRST = """
WITH RECURSIVE names (name) AS (
    SELECT min(approval) FROM ledger_standing
    UNION ALL SELECT (SELECT min(approval) FROM ledger_standing WHERE approval > name) FROM names WHERE name IS NOT NULL
)
SELECT name, (SELECT payload FROM ledger_standing WHERE approval = name AND seq = 1) FROM names WHERE name IS NOT NULL
"""
"""The first row of each approval, without a look at the rows of its uses."""
_PUT = f"INSERT INTO ledger_standing (approval, {COLUMNS}) VALUES {{}} ON CONFLICT DO NOTHING"
_ERASE = "UPDATE ledger_standing SET payload = %s, salt = %s WHERE approval = %s AND seq = %s"
_ROWS = f"SELECT {COLUMNS} FROM ledger_standing WHERE approval = %s ORDER BY seq"
_ALL = f"SELECT approval, {COLUMNS} FROM ledger_standing {{}} ORDER BY approval, seq"
_WITH_APPROVALS = f"""SELECT thread, n FROM ledger_index JOIN ledger_runs ON ledger_runs.id = ledger_index.run
    WHERE status IN {UNDER_WAY} {{}} AND EXISTS (SELECT 1 FROM ledger_events
    WHERE ledger_events.run = ledger_index.run AND kind = '{StandingGiven.kind}')
    ORDER BY ledger_index.run DESC LIMIT %s"""


def give(tx: Transaction, approvals: Sequence[StandingApproval]) -> None:
    """Keep approvals; one that is there stays as it is."""
    tx.tell_rows(_PUT, [(approval.id, *given_row(approval)) for approval in approvals])


def count(tx: Transaction, database: str, uses: Sequence[StandingCall]) -> None:
    """Count calls; see `graph.ledger.standing.used_row`. Approvals are locked in one order."""
    for use in sorted(uses, key=lambda use: use.approval):
        if row := used_row(database, _locked(tx, use.approval), use):
            tx.tell_rows(_PUT, [(use.approval, *row)])


def revoke(tx: Transaction, database: str, name: str, by: str) -> bool:
    """End an approval; return whether there was one to end."""
    row = revoked_row(database, _locked(tx, name), name, by)
    tx.tell_rows(_PUT, [(name, *row)] if row is not None else [])
    return row is not None


def standing(tx: Transaction, database: str, tool: str | None, named: Collection[str]) -> list[StandingUse]:
    """Return standing approvals, the oldest first; see `graph.ledger.protocol.Ledger.standing`."""
    left = may_cover(dict(tx.ask(_FIRST)), tool, named)
    uses = [use_of(database, name, rows) for name, rows in _all(tx, left).items()]
    return sorted(uses, key=lambda use: use.approval.given_at)


def redact(tx: Transaction, database: str, redactor: Redactor, by: str, reason: str) -> int:
    """Take a value out of all approvals, whoever gave them; return how many held it."""
    tx.on_server("SELECT FROM ledger_standing WHERE seq = 1 ORDER BY approval FOR UPDATE")
    changed = redacted_rows(database, _all(tx), redactor, by, reason)
    for name, (*others, last) in changed.items():
        for row in others:
            tx.tell(_ERASE, row.payload, row.salt, name, row.seq)
        tx.tell_rows(_PUT, [(name, *last)])
    return len(changed)


def shorten(tx: Transaction, database: str, until: float) -> None:
    """End each approval that would last longer at a time, in Unix seconds."""
    tx.tell_rows(_PUT, [(name, *row) for name, row in shortened_rows(database, _all(tx), until).items()])


def _all(tx: Transaction, names: Sequence[str] | None = None) -> dict[str, list[Row]]:
    some, given = ("", ()) if names is None else (f"WHERE approval {AMONG}", (tx.many(names),))
    found = tx.ask(_ALL.format(some), *given)
    return {str(name): [Row(*row[1:]) for row in rows] for name, rows in groupby(found, key=lambda row: row[0])}


def _locked(tx: Transaction, name: str) -> list[Row]:
    """Return the rows of an approval; whoever counts a call of it next waits for this transaction.

    The rows are read after the lock is granted, so that those of the transaction before are among them.
    """
    tx.on_server("SELECT FROM ledger_standing WHERE approval = %s AND seq = 1 FOR UPDATE", name)
    return [Row(*row) for row in tx.ask(_ROWS, name)]


def with_approvals(tx: Transaction, limit: int, before: RunKey | None) -> list[RunKey]:
    """Return runs that have not ended and were given standing approvals of their own, the latest first."""
    behind, place = ("", []) if before is None else ("AND ledger_index.run < %s", [id_of(tx, before) or 0])
    return [RunKey(*row) for row in tx.ask(_WITH_APPROVALS.format(behind), *place, limit)]
