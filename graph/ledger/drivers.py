"""The only constructor of ledgers: the address selects the driver."""

from collections.abc import Callable
from pathlib import Path

from planner_executor.graph.errors import ConfigError, LedgerUnavailableError
from planner_executor.graph.ledger.address import MISSPELT, SCHEMES, is_address, shown_address
from planner_executor.graph.ledger.database_name import IN_MEMORY, name_fault
from planner_executor.graph.ledger.protocol import Ledger
from planner_executor.graph.ledger.run_store import RunStore
from planner_executor.graph.ledger.seal import SealKey

PACKAGES = "a PostgreSQL database needs packages: pip install '.[postgres]' in the folder of planner-executor"
Driver = Callable[[str, SealKey | None], RunStore]


def _in_memory(_address: str, key: SealKey | None) -> RunStore:
    from planner_executor.graph.ledger.sqlite.memory import MemoryLedger

    return MemoryLedger(key)


def _in_file(path: str, key: SealKey | None) -> RunStore:
    from planner_executor.graph.ledger.sqlite.ledger import SqliteLedger

    return SqliteLedger(path, key)


def _in_postgres(address: str, key: SealKey | None) -> RunStore:
    try:
        from planner_executor.graph.ledger.postgres.ledger import PostgresLedger
    except ImportError:
        raise ConfigError(PACKAGES) from None
    return PostgresLedger(address, key)


def _misspelt(address: str, _key: SealKey | None) -> RunStore:
    raise LedgerUnavailableError(shown_address(address), MISSPELT)


# Each imports its driver when it is chosen: psycopg is an extra.
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
    return DRIVERS.get(scheme, _misspelt if is_address(text) else _in_file)(text, key)


def file_of(ledger: Ledger) -> str | None:
    """Return the path of a ledger's file, or None if the ledger has no file on this machine."""
    if ledger.name == IN_MEMORY:
        return None
    from planner_executor.graph.ledger.sqlite.ledger import SqliteLedger

    return ledger.name if isinstance(ledger, SqliteLedger) else None
