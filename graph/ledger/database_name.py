"""The name of a database: a path, an address, or that of a ledger in memory; and how messages show it."""

from pathlib import Path

from planner_executor.graph.ledger.address import is_address, shown_address
from planner_executor.graph.plain_text.sanitize import text_fault

DATABASE = "planner-executor.db"
IN_MEMORY = ":memory:"
UNNAMED = "the name of the database is blank; name a file, such as runs.db, or postgresql://..."
OF_SQLITE = (
    "the name of the database begins with file:, as SQLite writes addresses; name the path alone, such as runs.db"
)


def name_fault(database: str) -> str | None:
    """Return why a text names no database, None if it may: SQLite would make one that is gone with its connection."""
    if not database.strip():
        return UNNAMED
    if fault := text_fault(database):
        return f"the name of the database: {fault}"
    return OF_SQLITE if database.startswith("file:") else None


def shown(database: str | Path) -> str:
    """Return a database's name in messages: a path, or an address without its password."""
    text = str(database)
    return shown_address(text) if is_address(text) else text
