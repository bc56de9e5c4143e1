"""Standing approvals as people list and revoke them: those of single runs, and those that hold in any run."""

from collections.abc import Sequence
from dataclasses import dataclass

from graph.errors import InputError
from graph.ledger.protocol import RunKey
from graph.ledger.search import run_in
from graph.name_list import listed
from graph.record.events import Draft, StandingRevoked
from graph.record.projection import project
from graph.record.revocation import Revocation
from graph.record.standing_approval import StandingUse
from graph.runs import Runs

PAGE = 50
"""Runs whose own approvals are read at a time."""


@dataclass(frozen=True)
class ApprovalsPage:
    """The standing approvals of some runs, the latest run first; `next` is the run behind which the next page is."""

    uses: Sequence[StandingUse]
    next: str | None = None


async def standing_approvals(runs: Runs, run: str | None = None) -> list[StandingUse]:
    """Return the standing approvals that hold in any run, and those of one run, or of all runs that have not ended.

    Args:
        runs: The runs of the ledger.
        run: The run's id, or its thread.

    Raises:
        UnknownRunError: There is no such run.
        LedgerCorruptError: A record was changed.
    """
    wide = await runs.ledger.standing()
    if run is not None:
        return [*wide, *await _own(runs, await runs.find(run))]
    page = await approvals_of_runs(runs)
    own = [*page.uses]
    while page.next is not None:
        page = await approvals_of_runs(runs, before=page.next)
        own += page.uses
    return [*wide, *own]


async def approvals_of_runs(runs: Runs, limit: int = PAGE, before: str | None = None) -> ApprovalsPage:
    """Return a page of the standing approvals of single runs that have not ended.

    Args:
        runs: The runs of the ledger.
        limit: How many runs, at most.
        before: The run that the page is behind, see `ApprovalsPage.next`.

    Raises:
        LedgerCorruptError: A record was changed.
    """
    place = run_in(before) if before is not None else None
    keys = [] if before is not None and place is None else await runs.ledger.with_approvals(limit + 1, place)
    uses = [use for key in keys[:limit] for use in await _own(runs, key)]
    return ApprovalsPage(uses, keys[limit - 1].id if len(keys) > limit else None)


async def revoke(runs: Runs, name: str, by: str, run: str | None = None) -> bool:
    """End a standing approval: no further call starts on it.

    Args:
        runs: The runs of the ledger.
        name: The id of the approval.
        by: The label of who revokes it.
        run: The id of its run, if it is of one and known.

    Returns:
        True if a process executes its run and reads the revocation before the next call; False if it holds already.

    Raises:
        InputError: There is none of that name, or it was revoked before.
    """
    uses = await standing_approvals(runs, run)
    found = next((use for use in uses if use.approval.id == name), None)
    if found is None or found.revoked_by is not None:
        there = listed([use.approval.id for use in uses if use.revoked_by is None]) or "none"
        raise InputError("approval", f"no standing approval {name!r} holds; there are: {there}")
    if found.approval.run is None:
        await runs.ledger.revoke_standing(name, by)
        return False
    return await _revoke_in(runs, await runs.find(found.approval.run), Revocation(name, by))


async def _revoke_in(runs: Runs, key: RunKey, revocation: Revocation) -> bool:
    if await runs.ledger.is_worked_on(key):
        await runs.ledger.post(key, revocation.to_text())
        return True
    async with runs.ledger.owned(key) as lease:
        await runs.ledger.append(lease, [Draft(StandingRevoked(id=revocation.approval, approver=revocation.by))])
    return False


async def _own(runs: Runs, key: RunKey) -> list[StandingUse]:
    uses = project(await runs.ledger.events(key)).standing.by_id.values()
    return [use for use in uses if use.approval.run]
