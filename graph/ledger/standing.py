"""The rows of standing approvals that hold beyond a run: given, used, shortened and revoked, each with a hash chain.

A driver keeps the rows by the name of the approval and calls these functions within its transactions. The chain shows
that a row was changed; that the last rows are missing is shown by the intents of the runs, which name their approval.
"""

import json
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any

from planner_executor.graph.errors import InputError, LedgerCorruptError, StandingSpentError
from planner_executor.graph.ledger.chain import REDACTED, Row, fault_of, first_link, payload_digest
from planner_executor.graph.ledger.chaining import compact_json, new_row
from planner_executor.graph.record.redaction import Redactor, Unredactable, redacted_payload
from planner_executor.graph.record.standing_approval import StandingApproval, StandingCall, StandingUse


def may_cover(first: Mapping[str, str | None], tool: str | None, named: Collection[str]) -> list[str]:
    """Return the ids of approvals that may let a call of a tool through, or are named; all without a tool.

    Args:
        first: The payload of the first row by id, None if it is missing. One that cannot be read is not left out, so
            that `use_of` finds the fault.
        tool: The tool.
        named: Ids that are not left out in any case.
    """
    now = time.time()
    return [name for name, payload in first.items() if tool is None or name in named or _may(payload, tool, now)]


def _may(payload: str | None, tool: str, now: float) -> bool:
    try:
        given = StandingApproval.from_json(json.loads(payload or ""))
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        return True  # `use_of` finds the fault
    return given.tool == tool and (given.until is None or now < given.until)


def given_row(approval: StandingApproval) -> Row:
    """Return the first row of a standing approval."""
    return _row(approval.id, (), "given", approval.to_json())


def used_row(database: str, rows: Sequence[Row], use: StandingCall) -> Row | None:
    """Return the row that counts a call, None if it is counted already.

    Raises:
        StandingSpentError: The approval is spent, revoked or past its time, or there is none.
        LedgerCorruptError: A row was changed.
    """
    found = use_of(database, use.approval, rows) if rows else None
    # Another attempt at a call that was counted is no further use, even when the approval is used up by now.
    if found is None or found.revoked_by is not None or not (found.holds(time.time()) or use.call in found.calls):
        raise StandingSpentError(database, use.run)
    return None if use.call in found.calls else _row(use.approval, rows, "used", {"call": use.call, "run": use.run})


def revoked_row(database: str, rows: Sequence[Row], name: str, by: str) -> Row | None:
    """Return the row that ends an approval, None if there is none or it has ended.

    Raises:
        LedgerCorruptError: A row was changed.
    """
    found = use_of(database, name, rows) if rows else None
    return _row(name, rows, "revoked", {"by": by}) if found is not None and found.revoked_by is None else None


def shortened_rows(database: str, approvals: Mapping[str, Sequence[Row]], until: float) -> dict[str, Row]:
    """Return the row that ends each approval at `until` (Unix seconds), without those that end earlier.

    One with a changed row stays as it is: nothing can use it.
    """
    found = {}
    for name, rows in approvals.items():
        with suppress(LedgerCorruptError):
            end = use_of(database, name, rows).approval.until
            if end is None or end > until:
                found[name] = _row(name, rows, "shortened", {"until": until})
    return found


def redacted_rows(
    database: str, approvals: Mapping[str, Sequence[Row]], redactor: Redactor, by: str, reason: str
) -> dict[str, list[Row]]:
    """Return the rows that take the place of those with a value, and a last row with the digests of what they hold now.

    An approval of which a bound was taken out lets no further call through.

    Raises:
        InputError: The value stands in what an approval is read by, such as its tool.
        LedgerCorruptError: A row was changed.
    """
    found = {}
    for name, rows in approvals.items():
        use_of(database, name, rows)
        if changed := list(filter(None, (_without(row, redactor) for row in rows))):
            left = [{"seq": row.seq, "digest": payload_digest(b"", row.payload).hex()} for row in changed]
            told = {"left": left, "by": by, "reason": redactor.text(reason)}
            found[name] = [*changed, _row(name, rows, REDACTED, told)]
    return found


def _without(row: Row, redactor: Redactor) -> Row | None:
    """Return a row without the value, None if it does not hold it."""
    try:
        payload = compact_json(redacted_payload(json.loads(row.payload), redactor))
    except Unredactable as error:
        raise InputError("value", f"it cannot be taken out of a standing approval: {error}") from error
    return row._replace(payload=payload, salt=b"") if payload != row.payload else None


def use_of(database: str, name: str, rows: Sequence[Row]) -> StandingUse:
    """Return a standing approval as its rows have it.

    Raises:
        LedgerCorruptError: A row was changed, or one between others is missing.
    """
    fault = fault_of(_chain(name), rows, len(rows))
    if fault is not None:
        raise LedgerCorruptError(database, f"standing approval {name}", fault.seq, fault.why)
    said = [json.loads(row.payload) for row in rows]
    calls = frozenset(one["call"] for row, one in zip(rows, said, strict=True) if row.kind == "used")
    revoked = [one["by"] for row, one in zip(rows, said, strict=True) if row.kind == "revoked"]
    ends = [one["until"] for row, one in zip(rows, said, strict=True) if row.kind == "shortened"]
    approval = StandingApproval.from_json(said[0])
    return StandingUse(approval._replace(until=ends[-1]) if ends else approval, calls, revoked[0] if revoked else None)


def _chain(name: str) -> str:
    return f"standing approval {name}"


def _row(name: str, rows: Sequence[Row], kind: str, said: Mapping[str, Any]) -> Row:
    seq, before = (rows[-1].seq + 1, rows[-1].link) if rows else (1, first_link(_chain(name)))
    return new_row(seq, kind, None, compact_json(dict(said)), before)
