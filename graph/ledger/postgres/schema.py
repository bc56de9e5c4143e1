"""The tables of the ledger in a PostgreSQL database, and their version."""

from graph.errors import LedgerUnavailableError
from graph.ledger.postgres.standing_table import TABLES as STANDING
from graph.ledger.postgres.transaction import Transaction
from graph.record.events import CONTROL

VERSION = 2
"""Version 1 had none of the tables in `ADDED_IN_2`."""
SCHEMA_LOCK = 6_911_051_277_381_204_001
"""Held in the transaction that makes the tables: of processes that start at once, one makes them."""

TO_KNOW = """(kind = 'call_started' AND position('"repeatable":false' in payload) > 0
    OR kind = 'decided' AND position('"settled":[{' in payload) > 0
    OR kind = 'step_checked' AND position('"met":false' in payload) > 0)"""
"""Superset of the events that make a call uncertain or settle it.

The words are ours: in a text that somebody else wrote there is a backslash before each quote.
"""

# Names of threads, ids and kinds are ordered by code points, whatever the database's locale is.
TABLES = f"""
CREATE TABLE ledger_runs (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    thread text COLLATE "C" NOT NULL,
    n bigint NOT NULL,
    events bigint NOT NULL DEFAULT 0,
    key text,
    seal bytea,
    UNIQUE (thread, n)
) WITH (fillfactor = 70);
CREATE TABLE ledger_events (
    run bigint NOT NULL,
    seq bigint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    step text COLLATE "C",
    at double precision NOT NULL,
    payload text COLLATE "C" NOT NULL,
    salt bytea NOT NULL,
    digest bytea NOT NULL,
    link bytea NOT NULL,
    PRIMARY KEY (run, seq)
);
CREATE INDEX ledger_control ON ledger_events (run, seq) WHERE kind IN {CONTROL};
CREATE INDEX ledger_to_know ON ledger_events (run, seq) WHERE {TO_KNOW};
CREATE TABLE ledger_artifacts (
    id text COLLATE "C" PRIMARY KEY,
    content text COLLATE "C" NOT NULL
);
CREATE TABLE ledger_inbox (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run bigint NOT NULL,
    message text NOT NULL
);
CREATE INDEX ledger_inbox_run ON ledger_inbox (run);
CREATE TABLE ledger_leases (
    run bigint PRIMARY KEY,
    owner text COLLATE "C" NOT NULL,
    token bigint NOT NULL,
    beat bigint NOT NULL,
    beat_at timestamptz NOT NULL
) WITH (fillfactor = 50);
CREATE INDEX ledger_leases_owner ON ledger_leases (owner) WHERE owner != '';
CREATE TABLE ledger_appends (
    id uuid PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ledger_appends_at ON ledger_appends (at);
CREATE TABLE ledger_index (
    run bigint PRIMARY KEY,
    seq bigint NOT NULL,
    status text COLLATE "C" NOT NULL,
    goal text NOT NULL,
    reason text,
    waits_for text COLLATE "C",
    asks text NOT NULL,
    people text NOT NULL,
    tags text NOT NULL,
    started_at double precision NOT NULL,
    updated_at double precision NOT NULL,
    ended_at double precision,
    waiting_since double precision,
    revision bigint NOT NULL,
    steps bigint NOT NULL,
    succeeded bigint NOT NULL,
    tool_calls bigint NOT NULL,
    model_calls bigint NOT NULL,
    tokens bigint NOT NULL,
    cost_usd double precision NOT NULL
) WITH (fillfactor = 70);
CREATE INDEX ledger_index_status ON ledger_index (status, run);
CREATE INDEX ledger_index_waiting ON ledger_index (waits_for, waiting_since) WHERE waits_for IS NOT NULL;
CREATE TABLE ledger_tags (
    tag text COLLATE "C" NOT NULL,
    run bigint NOT NULL,
    PRIMARY KEY (run, tag)
);
CREATE INDEX ledger_tags_tag ON ledger_tags (tag, run);
CREATE TABLE ledger_counters (
    name text COLLATE "C" NOT NULL,
    labels text COLLATE "C" NOT NULL,
    share smallint NOT NULL,
    value double precision NOT NULL,
    PRIMARY KEY (name, labels, share)
) WITH (fillfactor = 50);
CREATE TABLE ledger_schema (version bigint NOT NULL);
"""


ADDED_IN_2: tuple[str, ...] = (STANDING,)


def version_of(tx: Transaction) -> int:
    """Return the version of the tables in the connection's schema, 0 if there are none."""
    # `to_regclass` would answer from a cache, which misses what another process has just made.
    there = tx.ask("SELECT FROM pg_class WHERE relname = 'ledger_schema' AND pg_table_is_visible(oid)")
    row = tx.one("SELECT max(version) FROM ledger_schema") if there else None
    return int(row[0]) if row and row[0] is not None else 0


def bring_up(tx: Transaction, database: str) -> None:
    """Make the tables of a new database, and refuse one that this program cannot use.

    Raises:
        LedgerUnavailableError: It is newer than this program, or its texts are not UTF-8; nothing was touched.
    """
    version = version_of(tx)
    if version < VERSION:
        _check_encoding(tx, database)
        tx.tell("SELECT pg_advisory_xact_lock(%s)", SCHEMA_LOCK)
        version = version_of(tx)  # another process may have been faster
    if version > VERSION:
        why = f"its tables are of version {version}, this program knows version {VERSION}; install a newer release"
        raise LedgerUnavailableError(database, why)
    if version == VERSION:
        return
    for tables in (*([TABLES] if version == 0 else []), *ADDED_IN_2):
        tx.tell(tables.strip().removesuffix(";"))
    tx.tell("DELETE FROM ledger_schema")
    tx.tell("INSERT INTO ledger_schema VALUES (%s)", VERSION)


def _check_encoding(tx: Transaction, database: str) -> None:
    (encoding,) = tx.ask("SHOW server_encoding")[0]
    if encoding != "UTF8":
        why = f"its texts are encoded as {encoding}; make a database with ENCODING 'UTF8'"
        raise LedgerUnavailableError(database, why)
