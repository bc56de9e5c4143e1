"""Listing and revoking standing approvals: those of single runs, and those that hold in any run (decision 74)."""

from collections.abc import Sequence
from typing import NamedTuple

from planner_executor.graph.errors import (
    InputError,
    LedgerCorruptError,
    LedgerError,
    MissingRunError,
    UnknownEventError,
)
from planner_executor.graph.ledger.run_states import state_of
from planner_executor.graph.record.events import Draft, StandingRevoked
from planner_executor.graph.record.revocation import Revocation
from planner_executor.graph.record.run_key import RunKey, run_in
from planner_executor.graph.record.standing_approval import StandingUse
from planner_executor.graph.runs.runs import Runs
from planner_executor.graph.words.name_list import there_are

PAGE = 50
"""Runs whose own approvals are read at a time."""


class Unread(NamedTuple):
    """The approvals of one run, or with `run` None those that hold in any run, which cannot be read."""

    run: str | None
    error: LedgerError

    def __str__(self) -> str:
        """Return which ones, and why."""
        return (
            f"run {self.run} is left out: {self.error}" if self.run else f"those of any run are left out: {self.error}"
        )


class ApprovalsPage(NamedTuple):
    """The standing approvals of some runs, the latest run first; `next` is the run behind which the next page is.

    A damaged record hides no other: it is named in `unread`.
    """

    uses: Sequence[StandingUse]
    next: str | None = None
    unread: Sequence[Unread] = ()


async def standing_approvals(runs: Runs, run: str | None = None) -> ApprovalsPage:
    """Return the standing approvals that hold in any run, and those of one run, or of all runs that have not ended.

    Args:
        runs: The runs of the ledger.
        run: The run's id, or its thread.

    Raises:
        UnknownRunError: There is no such run.
    """
    wide = await wide_approvals(runs)
    if run is not None:
        return _together([wide, await _of_runs(runs, [await runs.find(run)])])
    pages = [wide, await approvals_of_runs(runs)]
    while pages[-1].next is not None:
        pages.append(await approvals_of_runs(runs, before=pages[-1].next))
    return _together(pages)


async def wide_approvals(runs: Runs) -> ApprovalsPage:
    """Return the standing approvals that hold in any run, the oldest first."""
    try:
        return ApprovalsPage(await runs.ledger.standing())
    except LedgerCorruptError as error:
        return ApprovalsPage((), unread=[Unread(None, error)])


async def approvals_of_runs(runs: Runs, limit: int = PAGE, before: str | None = None) -> ApprovalsPage:
    """Return a page of the standing approvals of single runs that have not ended.

    Args:
        runs: The runs of the ledger.
        limit: How many runs, at most.
        before: The run that the page is behind, see `ApprovalsPage.next`.
    """
    place = run_in(before) if before is not None else None
    keys = [] if before is not None and place is None else await runs.ledger.with_approvals(limit + 1, place)
    # One more was asked for, which says that there is a next page.
    found = await _of_runs(runs, keys[:limit])
    return found._replace(next=keys[limit - 1].id if len(keys) > limit else None)


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
    page = await standing_approvals(runs, run)
    found = next((use for use in page.uses if use.approval.id == name), None)
    # A list with a damaged row cannot be read, but a person must be able to revoke what is in it by its name.
    if found is None and any(one.run is None for one in page.unread) and await runs.ledger.revoke_standing(name, by):
        return False
    if found is None or found.revoked_by is not None:
        there = there_are([use.approval.id for use in page.uses if use.revoked_by is None])
        unread = "".join(f"; {one}" for one in page.unread)
        raise InputError("approval", f"no standing approval {name!r} holds; {there}{unread}")
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


async def _of_runs(runs: Runs, keys: Sequence[RunKey]) -> ApprovalsPage:
    uses, unread = list[StandingUse](), list[Unread]()
    for key in keys:
        try:
            record = await state_of(runs.ledger, key)
        except MissingRunError:  # it was removed since it was listed
            pass
        except (LedgerCorruptError, UnknownEventError) as error:
            unread.append(Unread(key.id, error))
        else:
            uses += [use for use in record.standing.by_id.values() if use.approval.run]
    return ApprovalsPage(uses, unread=unread)


def _together(pages: Sequence[ApprovalsPage]) -> ApprovalsPage:
    uses = [use for page in pages for use in page.uses]
    return ApprovalsPage(uses, unread=[one for page in pages for one in page.unread])
