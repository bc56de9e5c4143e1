"""The one place where a ledger is made: an address says which driver."""

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
"""The scheme of an address, or the whole of it -> what opens it. Every other address is the path of an SQLite file."""


def open_ledger(address: str | Path, key: SealKey | None = None) -> RunStore:
    """Return the ledger at an address; the database is opened on first use.

    Args:
        address: The path of a file, or ":memory:" for a ledger of its own that is gone with its last user.
        key: Seals the runs that are begun.
    """
    text = str(address)
    scheme, _, _ = text.partition("://")
    return DRIVERS.get(scheme, SqliteLedger)(text, key)


def file_of(ledger: Ledger) -> str | None:
    """Return the file that a ledger keeps its records in, None if there is none on this machine."""
    return ledger.name if isinstance(ledger, SqliteLedger) else None
