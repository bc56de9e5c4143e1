"""Locks that transactions on a server take by number, until their end; a file has one writer, and needs none."""

from planner_executor.graph.ledger.tables.transaction import Transaction

# Numbers that other programs which use the database are unlikely to have taken too.
MAKING = 6_911_051_277_381_204_001
"""Held by whoever makes tables: of processes that start at once, one makes them."""
USES = 6_911_051_277_381_204_003
"""Shared by whoever writes events that name artifacts, and held alone by whoever removes artifacts: neither misses what
the other has not committed yet."""
FAMILIES = 6_911_051_277_381_204_004
"""Shared by whoever opens a run, and held alone by whoever opens a fork, which may make one family of two."""
BEGINNING = 1_204_004
"""First half of the lock that the owners of a family's runs take before they begin calls; the family is the other."""


def lock(tx: Transaction, number: int, *, alone: bool = True) -> None:
    """Take a lock, or share it, until the end of the transaction."""
    tx.on_server(f"SELECT pg_advisory_xact_lock{'' if alone else '_shared'}(%s)", number)
