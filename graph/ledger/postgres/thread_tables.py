"""LangGraph's own tables in the ledger's schema: the statements that copy, remove and redact a thread's rows."""

import json
from collections.abc import Sequence
from typing import Any

from graph.ledger.checkpoint_cells import erased, plain_bytes, with_more_names
from graph.ledger.postgres.transaction import Transaction
from graph.record.redaction import Redactor

TABLES = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")
CELLS = {
    "checkpoint_blobs": ("checkpoint_ns", "channel", "version"),
    "checkpoint_writes": ("checkpoint_ns", "checkpoint_id", "task_id", "idx"),
}
"""Tables of cells, and the rest of their keys after the thread."""

REMOVED_RUNS = """WITH gone AS (
    DELETE FROM checkpoints WHERE metadata ->> 'run_id' = ANY(%s) RETURNING thread_id, checkpoint_ns, checkpoint_id
) DELETE FROM checkpoint_writes USING gone WHERE checkpoint_writes.thread_id = gone.thread_id
    AND checkpoint_writes.checkpoint_ns = gone.checkpoint_ns
    AND checkpoint_writes.checkpoint_id = gone.checkpoint_id"""
"""The checkpoints of runs of a server, with their pending writes. Channel values are shared, and stay."""

_WRITES = "checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, blob"
COPIED: Sequence[str] = (
    """INSERT INTO checkpoints (
        thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata
    ) SELECT %(target)s, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint,
        (metadata - 'run_id') || jsonb_build_object('thread_id', %(target)s::text)
    FROM checkpoints WHERE thread_id = %(source)s ON CONFLICT DO NOTHING""",
    """INSERT INTO checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type, blob)
    SELECT %(target)s, checkpoint_ns, channel, version, type, blob
    FROM checkpoint_blobs WHERE thread_id = %(source)s ON CONFLICT DO NOTHING""",
    f"""INSERT INTO checkpoint_writes (thread_id, {_WRITES})
    SELECT %(target)s, {_WRITES} FROM checkpoint_writes WHERE thread_id = %(source)s ON CONFLICT DO NOTHING""",
)
"""All rows of a thread under another thread's id; a copy belongs to no run of the server."""


def tables_of(tx: Transaction) -> list[str]:
    """Return those of LangGraph's tables that are there."""
    found = tx.ask("SELECT name FROM unnest(%s) AS name WHERE to_regclass(name) IS NOT NULL", list(TABLES))
    return [name for (name,) in found]


def remove_thread(tx: Transaction, thread: str) -> None:
    """Remove all rows of a thread."""
    for table in tables_of(tx):
        tx.tell(f"DELETE FROM {table} WHERE thread_id = %s", thread)


def erase_checkpoints(tx: Transaction, thread: str, redactor: Redactor) -> int:
    """Remove a value from a thread's checkpoints and pending writes; return the number of changed rows."""
    if len(tables_of(tx)) < len(TABLES):
        return 0
    cells = {table: _cells(tx, table, key, thread) for table, key in CELLS.items()}
    heads = tx.ask(
        "SELECT checkpoint_ns, checkpoint_id, checkpoint::text, metadata::text FROM checkpoints WHERE thread_id = %s",
        thread,
    )
    redactor = with_more_names(redactor, _plain(heads, cells), _brought(tx, thread))
    changed = sum(_erase_head(tx, thread, head, redactor) for head in heads)
    for table, key in CELLS.items():
        changed += sum(_erase_cell(tx, table, key, thread, row, redactor) for row in cells[table])
    return changed


def _cells(tx: Transaction, table: str, key: Sequence[str], thread: str) -> Sequence[Sequence[Any]]:
    return tx.ask(f"SELECT type, blob, {', '.join(key)} FROM {table} WHERE thread_id = %s", thread)


def _plain(heads: Sequence[Sequence[Any]], cells: dict[str, Sequence[Sequence[Any]]]) -> list[bytes]:
    texts = [text.encode() for _, _, *pair in heads for text in pair]
    return texts + [plain_bytes(kind, blob) for rows in cells.values() for kind, blob, *_ in rows if blob is not None]


def _brought(tx: Transaction, thread: str) -> list[bytes]:
    """Return the cells with the digest of a plan that the caller brought; small values stand in the checkpoint."""
    writes = "SELECT type, blob FROM checkpoint_writes WHERE thread_id = %s AND channel = 'brought'"
    inline = "SELECT checkpoint -> 'channel_values' ->> 'brought' FROM checkpoints WHERE thread_id = %s"
    found = [plain_bytes(kind, blob) for kind, blob in tx.ask(writes, thread)]
    return found + [text.encode() for (text,) in tx.ask(inline, thread) if text]


def _erase_head(tx: Transaction, thread: str, head: Sequence[Any], redactor: Redactor) -> bool:
    namespace, checkpoint_id, *texts = head
    before = [json.loads(text) for text in texts]
    after = [redactor.json(value) for value in before]
    if after == before:
        return False
    tx.tell(
        "UPDATE checkpoints SET checkpoint = %s::jsonb, metadata = %s::jsonb "
        "WHERE thread_id = %s AND checkpoint_ns = %s AND checkpoint_id = %s",
        *(json.dumps(value, ensure_ascii=False) for value in after),
        thread,
        namespace,
        checkpoint_id,
    )
    return True


def _erase_cell(
    tx: Transaction, table: str, key: Sequence[str], thread: str, row: Sequence[Any], redactor: Redactor
) -> bool:
    kind, blob, *values = row
    new = erased(blob, kind, redactor)
    if new == blob:
        return False
    place = " AND ".join(f"{column} = %s" for column in ("thread_id", *key))
    tx.tell(f"UPDATE {table} SET blob = %s WHERE {place}", new, thread, *values)
    return True
