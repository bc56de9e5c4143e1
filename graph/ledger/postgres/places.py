"""The places of a database that hold a value."""

from collections.abc import Iterator, Sequence

from planner_executor.graph.ledger.checkpoint_cells import plain_bytes
from planner_executor.graph.ledger.packed_checkpoint import DICTIONARIES
from planner_executor.graph.ledger.postgres.thread_tables import CELLS, tables_of
from planner_executor.graph.ledger.tables.reader import Rows
from planner_executor.graph.ledger.tables.transaction import Transaction
from planner_executor.graph.record.run_key import run_name


def places_of(tx: Transaction, forms: Sequence[str]) -> list[str]:
    """Return the places that still hold a value, in one of its forms, named by run or thread if they have one."""
    return list(dict.fromkeys([*_ledger_places(tx, forms), *_checkpoint_places(tx, forms)]))


def _ledger_places(tx: Transaction, forms: Sequence[str]) -> Iterator[str]:
    texts = (
        "SELECT id AS run, thread AS text FROM ledger_runs UNION ALL SELECT run, payload FROM ledger_events UNION ALL "
        "SELECT run, step FROM ledger_events UNION ALL SELECT run, message FROM ledger_inbox UNION ALL "
        "SELECT run, tag FROM ledger_tags UNION ALL "
        "SELECT run, concat_ws(' ', goal, reason, asks, people, tags) FROM ledger_index"
    )
    query = f"SELECT DISTINCT thread, n FROM ({texts}) AS texts JOIN ledger_runs ON ledger_runs.id = run WHERE {{}}"
    for thread, n in _holding(tx, query, "text", forms):
        yield f"run {run_name(thread, n)}"
    for (name,) in _holding(tx, "SELECT id FROM ledger_artifacts WHERE {}", "content", forms):
        yield f"artifact {name}"
    for (name,) in _holding(tx, "SELECT DISTINCT approval FROM ledger_standing WHERE {}", "payload", forms):
        yield f"standing approval {name}"


def _checkpoint_places(tx: Transaction, forms: Sequence[str]) -> Iterator[str]:
    tables = tables_of(tx)
    # LangGraph makes its tables when they are first used, so a ledger may be without.
    if "checkpoints" in tables:
        query = "SELECT DISTINCT thread_id FROM checkpoints WHERE {}"
        for column in ("checkpoint::text", "metadata::text", "thread_id"):
            yield from (f"checkpoints of thread {name}" for (name,) in _holding(tx, query, column, forms))
    sought = [form.encode("utf-8", "surrogatepass") for form in forms]
    for table in CELLS.keys() & set(tables):
        found = " OR ".join("position(%s in blob) > 0" for _ in sought)
        # Packed values hold their text in pieces, so these rows are unpacked and looked at one by one.
        rows = tx.ask(
            f"SELECT thread_id, type, blob FROM {table} WHERE type = ANY(%s) OR {found}", list(DICTIONARIES), *sought
        )
        for thread, kind, blob in rows:
            if any(form in plain_bytes(kind, blob) for form in sought):
                yield f"{table} of thread {thread}"


def _holding(tx: Transaction, query: str, column: str, forms: Sequence[str]) -> Rows:
    """Return the rows of a query whose column holds one of the forms that a text of the database can hold."""
    storable = [form for form in forms if "\0" not in form]
    found = " OR ".join(f"position(%s in {column}) > 0" for _ in storable)
    return tx.ask(query.format(found), *storable) if storable else []
