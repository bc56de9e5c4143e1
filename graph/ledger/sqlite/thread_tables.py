"""LangGraph's own tables in the ledger's file: the statements that remove, copy and thin out a thread's rows.

Metadata are JSON in a BLOB, which SQLite would take for JSONB; they are cast to text. Rows whose metadata are no JSON
belong to no run.

Checkpoints were stored in the order of their rowid, which nothing changes: a new row gets one above all others, and
`VACUUM` copies rows in this order. See `docs/decisions/0126-order-of-checkpoints.md`.
"""

import json
from collections.abc import Sequence

Statement = tuple[str, tuple[str, ...]]

LATEST = "WHERE rowid = (SELECT max(rowid) FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ?)"
"""The checkpoint of a namespace that was stored last: the last entry of its namespace in `ORDER_INDEX`."""
ORDER_INDEX = "CREATE INDEX IF NOT EXISTS checkpoints_in_order ON checkpoints (thread_id, checkpoint_ns)"
"""Entries of equal columns are in the order of their rowid."""
BEFORE = "rowid < (SELECT max(rowid) FROM checkpoints WHERE checkpoint_id = ? AND thread_id = coalesce(?, thread_id))"
"""The checkpoints that were stored before the one of this id, in the thread of this name if it is known."""

_METADATA = "CAST(metadata AS TEXT)"
_RUN = f"CASE WHEN json_valid({_METADATA}) THEN json_extract({_METADATA}, '$.run_id') END"
_COPIED = f"""CASE WHEN json_type(CASE WHEN json_valid({_METADATA}) THEN {_METADATA} END) = 'object'
    THEN CAST(json_set(json_remove({_METADATA}, '$.run_id'), '$.thread_id', ?) AS BLOB) ELSE metadata END"""


def removed_thread(thread: str) -> Sequence[Statement]:
    """Remove all rows of a thread."""
    return [(f"DELETE FROM {table} WHERE thread_id = ?", (thread,)) for table in ("writes", "checkpoints")]


def removed_runs(server_runs: Sequence[str]) -> Sequence[Statement]:
    """Remove the checkpoints made by these runs of a server, with their pending writes.

    A run of a server is one request that drives a thread; the ledger's runs are others and stay. The table is read
    through: a rollback is rare, and an index would cost each checkpoint.
    """
    of_runs = f"SELECT rowid FROM checkpoints WHERE {_RUN} IN (SELECT value FROM json_each(?))"
    gone = f"SELECT thread_id, checkpoint_ns, checkpoint_id FROM checkpoints WHERE rowid IN ({of_runs})"
    runs = (json.dumps(list(server_runs)),)
    return [
        (f"DELETE FROM writes WHERE (thread_id, checkpoint_ns, checkpoint_id) IN ({gone})", runs),
        (f"DELETE FROM checkpoints WHERE rowid IN ({of_runs})", runs),
    ]


def copied_thread(source: str, target: str) -> Sequence[Statement]:
    """Copy all rows of a thread under another thread's id; a copy belongs to no run of the server."""
    columns = "checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint"
    written = "checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, value"
    return [
        (
            f"INSERT OR REPLACE INTO checkpoints (thread_id, {columns}, metadata) "
            f"SELECT ?, {columns}, {_COPIED} FROM checkpoints WHERE thread_id = ? ORDER BY rowid",
            (target, target, source),
        ),
        (
            f"INSERT OR REPLACE INTO writes (thread_id, {written}) SELECT ?, {written} FROM writes WHERE thread_id = ?",
            (target, source),
        ),
    ]


def thinned_thread(thread: str) -> Sequence[Statement]:
    """Keep only the latest checkpoint of each namespace of a thread, without a parent, with its pending writes."""
    latest = "SELECT max(rowid) FROM checkpoints WHERE thread_id = ? GROUP BY checkpoint_ns"
    left = (
        "(checkpoint_ns, checkpoint_id) IN (SELECT checkpoint_ns, checkpoint_id FROM checkpoints WHERE thread_id = ?)"
    )
    return [
        (f"DELETE FROM checkpoints WHERE thread_id = ? AND rowid NOT IN ({latest})", (thread, thread)),
        (f"DELETE FROM writes WHERE thread_id = ? AND NOT {left}", (thread, thread)),
        ("UPDATE checkpoints SET parent_checkpoint_id = NULL WHERE thread_id = ?", (thread,)),
    ]
