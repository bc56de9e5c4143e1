"""The standing approvals of a store that hold in any run; every function requires the store's lock."""

from collections.abc import Collection, Sequence

from planner_executor.graph.ledger.chain import Row
from planner_executor.graph.ledger.memory.store import Store
from planner_executor.graph.ledger.standing import given_row, may_cover, revoked_row, use_of, used_row
from planner_executor.graph.record.standing_approval import StandingApproval, StandingCall, StandingUse


def give(store: Store, approvals: Sequence[StandingApproval]) -> None:
    """Keep approvals; one that is there stays as it is."""
    for approval in approvals:
        store.standing.setdefault(approval.id, [given_row(approval)])


def counted(store: Store, database: str, uses: Sequence[StandingCall]) -> dict[str, list[Row]]:
    """Return the rows of the approvals with these uses counted; nothing is kept yet."""
    found: dict[str, list[Row]] = {}
    for use in uses:
        rows = found.get(use.approval) or list(store.standing.get(use.approval, ()))
        row = used_row(database, rows, use)
        found[use.approval] = [*rows, *([row] if row is not None else [])]
    return found


def revoke(store: Store, database: str, name: str, by: str) -> bool:
    """End an approval; return whether there was one to end."""
    rows = store.standing.get(name, [])
    row = revoked_row(database, rows, name, by)
    rows += [row] if row is not None else []
    return row is not None


def standing(store: Store, database: str, tool: str | None, named: Collection[str]) -> list[StandingUse]:
    """Return the standing approvals, the oldest first; see `graph.ledger.standing.may_cover`."""
    left = may_cover({name: rows[0].payload for name, rows in store.standing.items()}, tool, named)
    uses = [use_of(database, name, store.standing[name]) for name in left]
    return sorted(uses, key=lambda use: use.approval.given_at)
