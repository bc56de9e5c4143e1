"""Pages of runs for lists: of a file its index alone is read, without what reads events."""

from pathlib import Path

from planner_executor.graph.cli.database_file import is_missing
from planner_executor.graph.ledger.address import is_address
from planner_executor.graph.ledger.sqlite.index_file import read_index
from planner_executor.graph.record.run_filter import RunFilter
from planner_executor.graph.runs.run_page import RunPage, one_more, page_of


def page(database: str | Path, wanted: RunFilter) -> RunPage:
    """Return a page of runs, latest first; empty without a database.

    Raises:
        LedgerUnavailableError: The database cannot be read.
    """
    if is_missing(database):
        return RunPage(())
    if not is_address(str(database)):
        found = read_index(str(database), lambda index: index.page(one_more(wanted)))
        if found is not None:
            return page_of(found, wanted)
    from planner_executor.graph.cli.run_lookup import with_runs  # a ledger, which imports events and their texts

    return with_runs(database, lambda runs: runs.page(wanted))
