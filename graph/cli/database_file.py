"""Whether there is a database to read: commands that only read make none."""

from pathlib import Path

from planner_executor.graph.errors import InputError
from planner_executor.graph.ledger.address import is_address


def is_missing(database: str | Path) -> bool:
    """Whether the database is a file that does not exist yet, in a folder that does."""
    file = Path(database)
    return not is_address(str(database)) and not file.exists() and file.absolute().parent.is_dir()


def check_exists(database: str) -> None:
    """Check that there is a database to read.

    Raises:
        InputError: There is none.
    """
    if is_missing(database):
        from planner_executor.graph.ledger.database_name import shown  # what lists runs does without it

        raise InputError("--db", f"the database {shown(database)} does not exist")
