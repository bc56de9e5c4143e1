"""The only constructor of ledgers: the address selects the driver."""

from collections.abc import Callable
from pathlib import Path

from graph.ledger.memory.event_store import IN_MEMORY
from graph.ledger.memory.ledger import MemoryLedger
from graph.ledger.protocol import Ledger
from graph.ledger.run_store import RunStore
from graph.ledger.seal import SealKey
from graph.ledger.sqlite.ledger import SqliteLedger

Driver = Callable[[str, SealKey | None], RunStore]


def _in_memory(_address: str, key: SealKey | None) -> RunStore:
    return MemoryLedger(key)


DRIVERS: dict[str, Driver] = {IN_MEMORY: _in_memory}
"""Address scheme, or whole address -> driver. Every other address is the path of an SQLite file."""


def open_ledger(address: str | Path, key: SealKey | None = None) -> RunStore:
    """Return the ledger at an address; the database is opened on first use.

    Args:
        address: The path of a file, or ":memory:" for a separate ledger that lasts as long as its last user.
        key: Seals new runs.
    """
    text = str(address)
    scheme, _, _ = text.partition("://")
    return DRIVERS.get(scheme, SqliteLedger)(text, key)


def file_of(ledger: Ledger) -> str | None:
    """Return the path of a ledger's file, or None if the ledger has no file on this machine."""
    return ledger.name if isinstance(ledger, SqliteLedger) else None
