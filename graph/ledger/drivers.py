"""The only constructor of ledgers: the address selects the driver."""

from collections.abc import Callable
from pathlib import Path

from planner_executor.graph.errors import ConfigError, LedgerUnavailableError
from planner_executor.graph.ledger.memory.event_reader import IN_MEMORY
from planner_executor.graph.ledger.memory.ledger import MemoryLedger
from planner_executor.graph.ledger.postgres.address import MISSPELT, SCHEMES, is_address, shown_address
from planner_executor.graph.ledger.protocol import Ledger
from planner_executor.graph.ledger.run_store import RunStore
from planner_executor.graph.ledger.seal import SealKey
from planner_executor.graph.ledger.sqlite.ledger import SqliteLedger

UNNAMED = "the name of the database is blank; name a file, such as runs.db, or postgresql://..."
PACKAGES = "a PostgreSQL database needs packages: pip install '.[postgres]' in the folder of planner-executor"
OF_SQLITE = (
    "the name of the database begins with file:, as SQLite writes addresses; name the path alone, such as runs.db"
)
Driver = Callable[[str, SealKey | None], RunStore]


def _in_memory(_address: str, key: SealKey | None) -> RunStore:
    return MemoryLedger(key)


def _in_postgres(address: str, key: SealKey | None) -> RunStore:
    try:
        from planner_executor.graph.ledger.postgres.ledger import PostgresLedger
    except ImportError:
        raise ConfigError(PACKAGES) from None
    return PostgresLedger(address, key)


def _misspelt(address: str, _key: SealKey | None) -> RunStore:
    raise LedgerUnavailableError(shown_address(address), MISSPELT)


DRIVERS: dict[str, Driver] = {IN_MEMORY: _in_memory, **dict.fromkeys(SCHEMES, _in_postgres)}
"""Address scheme, or whole address -> driver. Every other text is the path of an SQLite file, or is refused."""


def open_ledger(address: str | Path, key: SealKey | None = None) -> RunStore:
    """Return the ledger at an address; the database is opened on first use.

    Args:
        address: The path of a file; the address of a PostgreSQL database, such as "postgresql://localhost/runs"; or
            ":memory:" for a separate ledger that lasts as long as its last user.
        key: Seals new runs.

    Raises:
        ConfigError: The address is blank or SQLite's own form of one, or the packages for it are not installed.
        LedgerUnavailableError: It is neither of them, such as "mysql://...".
    """
    text = str(address)
    if fault := name_fault(text):
        raise ConfigError(fault)
    scheme, _, _ = text.partition("://")
    return DRIVERS.get(scheme, _misspelt if is_address(text) else SqliteLedger)(text, key)


def name_fault(database: str) -> str | None:
    """Return why a text names no database, None if it may: SQLite would make one that is gone with its connection."""
    if not database.strip():
        return UNNAMED
    return OF_SQLITE if database.startswith("file:") else None


def shown(database: str | Path) -> str:
    """Return a database's name in messages: a path, or an address without its password."""
    text = str(database)
    return shown_address(text) if is_address(text) else text


def file_of(ledger: Ledger) -> str | None:
    """Return the path of a ledger's file, or None if the ledger has no file on this machine."""
    return ledger.name if isinstance(ledger, SqliteLedger) else None
