"""Pages of the inbox for a list: of a file its index alone is read, unless something has to be written first."""

from pathlib import Path

from planner_executor.graph.cli.database_file import is_missing
from planner_executor.graph.ledger.address import is_address
from planner_executor.graph.ledger.sqlite.index_file import IndexFile, read_index
from planner_executor.graph.runs.inbox_filter import InboxFilter
from planner_executor.graph.runs.inbox_page import Inbox, inbox_page


def page(database: str | Path, wanted: InboxFilter, limit: int, after: str | None) -> Inbox:
    """Return a page of what needs a person; empty without a database.

    Raises:
        InputError: `after` is not the `next` of a page.
        LedgerUnavailableError: The database cannot be read.
    """

    async def read(index: IndexFile) -> Inbox | None:
        return await inbox_page(index, wanted, limit, after) if index.is_settled else None

    if is_missing(database):
        return Inbox(())
    if not is_address(str(database)) and (found := read_index(str(database), read)) is not None:
        return found
    from planner_executor.graph.cli.run_lookup import with_runs  # a ledger, which imports events and their texts
    from planner_executor.graph.runs.inbox import inbox

    return with_runs(database, lambda runs: inbox(runs, wanted, limit=limit, after=after))
