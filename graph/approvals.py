"""Standing approvals as people list and revoke them: those of single runs, and those that hold in any run."""

from collections.abc import Sequence

from graph.errors import InputError
from graph.ledger.protocol import RunKey
from graph.name_list import listed
from graph.record.events import Draft, StandingRevoked
from graph.record.projection import project
from graph.record.revocation import Revocation
from graph.record.run_state import RunState
from graph.record.standing_approval import StandingUse
from graph.runs import Runs

UNDER_WAY = ("waiting", "paused", "running", "planning")
MOST_RUNS = 500


async def standing_approvals(runs: Runs, run: str | None = None, most: int = MOST_RUNS) -> list[StandingUse]:
    """Return the standing approvals that hold in any run, and those of one run, or of all runs that have not ended.

    Args:
        runs: The runs of the ledger.
        run: The run's id, or its thread.
        most: How many runs of each status are looked through, the latest first.

    Raises:
        UnknownRunError: There is no such run.
        LedgerCorruptError: A record was changed.
    """
    own = [
        use for record in await _records(runs, run, most) for use in record.standing.by_id.values() if use.approval.run
    ]
    return [*await runs.ledger.standing(), *own]


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


async def _records(runs: Runs, run: str | None, most: int) -> Sequence[RunState]:
    if run is not None:
        return [project(await runs.ledger.events(await runs.find(run)))]
    pages = [await runs.list(status=status, limit=most) for status in UNDER_WAY]
    keys = [RunKey(summary.thread, summary.n) for page in pages for summary in page if summary.people]
    return [project(await runs.ledger.events(key)) for key in keys]
