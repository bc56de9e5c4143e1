"""The tables of the ledger, and their version."""

import sqlite3

from planner_executor.graph.errors import LedgerUnavailableError
from planner_executor.graph.ledger.family import to_know
from planner_executor.graph.ledger.sqlite.caps_table import TABLES as CAPS
from planner_executor.graph.ledger.sqlite.history_table import TABLES as HISTORY
from planner_executor.graph.ledger.sqlite.lease import SCHEMA as LEASES
from planner_executor.graph.ledger.sqlite.standing_table import TABLES as STANDING
from planner_executor.graph.record.events import CONTROL, RunForked

VERSION = 6
"""Version 1 had neither the index of runs nor the version table; in version 2 every payload was text; version 3 had
nothing of what `add` makes, and builds before the first release called part of that version 4; version 5 had no
families, and its standing approvals could last for any time."""

CONTROL_INDEX = f"CREATE INDEX IF NOT EXISTS ledger_control ON ledger_events (run, seq) WHERE kind IN {CONTROL};"

RECORDS = f"""
CREATE TABLE IF NOT EXISTS ledger_runs (
    id INTEGER PRIMARY KEY,
    thread TEXT NOT NULL,
    n INTEGER NOT NULL,
    events INTEGER NOT NULL DEFAULT 0,
    key TEXT,
    seal BLOB,
    UNIQUE (thread, n)
);
CREATE TABLE IF NOT EXISTS ledger_events (
    run INTEGER NOT NULL REFERENCES ledger_runs (id),
    seq INTEGER NOT NULL,
    kind TEXT NOT NULL,
    step TEXT,
    at REAL NOT NULL,
    payload TEXT NOT NULL,
    salt BLOB NOT NULL,
    digest BLOB NOT NULL,
    link BLOB NOT NULL,
    PRIMARY KEY (run, seq)
);
{CONTROL_INDEX}
CREATE TABLE IF NOT EXISTS ledger_artifacts (
    id TEXT PRIMARY KEY,
    content TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS ledger_inbox (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES ledger_runs (id),
    message TEXT NOT NULL
);
{LEASES}"""

TO_KNOW = to_know("instr(payload, '{}') > 0")

INDEX = f"""
CREATE INDEX ledger_to_know ON ledger_events (run, seq) WHERE {TO_KNOW};
CREATE TABLE ledger_index (
    run INTEGER PRIMARY KEY REFERENCES ledger_runs (id),
    seq INTEGER NOT NULL,
    status TEXT NOT NULL,
    goal TEXT NOT NULL,
    reason TEXT,
    waits_for TEXT,
    asks TEXT NOT NULL,
    people TEXT NOT NULL,
    tags TEXT NOT NULL,
    started_at REAL NOT NULL,
    updated_at REAL NOT NULL,
    ended_at REAL,
    waiting_since REAL,
    revision INTEGER NOT NULL,
    steps INTEGER NOT NULL,
    succeeded INTEGER NOT NULL,
    tool_calls INTEGER NOT NULL,
    model_calls INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    cost_usd REAL NOT NULL
);
CREATE INDEX ledger_index_status ON ledger_index (status, run);
CREATE INDEX ledger_index_waiting ON ledger_index (waits_for, waiting_since) WHERE waits_for IS NOT NULL;
CREATE TABLE ledger_tags (
    tag TEXT NOT NULL,
    run INTEGER NOT NULL REFERENCES ledger_runs (id),
    PRIMARY KEY (tag, run)
) WITHOUT ROWID;
CREATE INDEX ledger_tags_run ON ledger_tags (run);
CREATE TABLE ledger_counters (
    name TEXT NOT NULL,
    labels TEXT NOT NULL,
    value REAL NOT NULL,
    PRIMARY KEY (name, labels)
) WITHOUT ROWID;
CREATE TABLE ledger_schema (version INTEGER NOT NULL);
"""

RETENTION = f"""
CREATE TABLE IF NOT EXISTS ledger_uses (
    artifact TEXT NOT NULL,
    run INTEGER NOT NULL REFERENCES ledger_runs (id),
    PRIMARY KEY (artifact, run)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS ledger_forks ON ledger_events (run) WHERE kind = '{RunForked.kind}';
CREATE TABLE IF NOT EXISTS ledger_tombstones (
    number INTEGER PRIMARY KEY,
    thread BLOB NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    heads BLOB NOT NULL,
    at REAL NOT NULL,
    person TEXT NOT NULL,
    key TEXT,
    link BLOB NOT NULL,
    seal BLOB,
    top INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS ledger_tombstones_thread ON ledger_tombstones (thread, last);
CREATE TABLE IF NOT EXISTS ledger_carried (
    name TEXT NOT NULL,
    labels TEXT NOT NULL,
    value REAL NOT NULL,
    PRIMARY KEY (name, labels)
) WITHOUT ROWID;
"""
"""`ledger_uses` names the artifacts of each run, `ledger_carried` has the counts of removed runs, and `top` is the
highest number that the tables had given to a run by then."""

NOTICES = """
CREATE TABLE IF NOT EXISTS ledger_notices (
    run INTEGER NOT NULL REFERENCES ledger_runs (id),
    kind TEXT NOT NULL,
    since REAL NOT NULL,
    address TEXT NOT NULL,
    status TEXT NOT NULL,
    asks TEXT NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0,
    due_at REAL,
    delivered INTEGER NOT NULL DEFAULT 0,
    failure TEXT,
    PRIMARY KEY (run, kind, since, address)
);
CREATE INDEX IF NOT EXISTS ledger_notices_due ON ledger_notices (due_at) WHERE due_at IS NOT NULL;
CREATE TABLE IF NOT EXISTS ledger_noticed (position TEXT NOT NULL);
"""
"""Deliveries of notices, and the position looked at last. A delivery without a further try has no `due_at`: it arrived,
was given up after a failure, or was dropped, not delivered and without one."""

FAMILIES = """
CREATE INDEX IF NOT EXISTS ledger_runs_family ON ledger_runs (family);
CREATE TABLE IF NOT EXISTS ledger_effects (
    family INTEGER NOT NULL,
    tool TEXT NOT NULL,
    digest TEXT NOT NULL,
    run INTEGER NOT NULL REFERENCES ledger_runs (id),
    step TEXT NOT NULL,
    PRIMARY KEY (family, tool, digest, run, step)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS ledger_effects_run ON ledger_effects (run);
"""
"""The calls that each run has begun and that may not be repeated: identical ones have the same digest, and one with a
redacted value has none. See `graph.ledger.family`."""

DEADLINES = """
CREATE INDEX IF NOT EXISTS ledger_index_due ON ledger_index (due_at) WHERE due_at IS NOT NULL;
"""

ADDED_COLUMNS = (
    ("ledger_index", "due_at", "REAL"),
    ("ledger_index", "review", "TEXT"),
    ("ledger_runs", "family", "INTEGER"),
)
"""Table, column and type. `review` is the open request of a run, as JSON, and something falls due for it at `due_at`;
`family` is the number of the first run of its family."""
ADDED = (RETENTION, NOTICES, STANDING, CAPS, HISTORY, DEADLINES, FAMILIES)

OF_A_RUN = (
    "ledger_events",
    "ledger_inbox",
    "ledger_leases",
    "ledger_index",
    "ledger_tags",
    "ledger_uses",
    "ledger_notices",
    "ledger_effects",
)
"""Tables whose column `run` names a row of `ledger_runs`; all of them lose the rows of a run that is removed."""


def create(db: sqlite3.Connection) -> None:
    """Make the tables of a new database, within a transaction."""
    for tables in (RECORDS, INDEX):
        execute(db, tables)
    add(db)
    set_version(db)


def add(db: sqlite3.Connection) -> None:
    """Make what version 3 had not, as far as it is missing, within a transaction."""
    for table, column, kind in ADDED_COLUMNS:
        if column not in {name for _, name, *_ in db.execute(f"PRAGMA table_info({table})")}:
            db.execute(f"ALTER TABLE {table} ADD COLUMN {column} {kind}")
    for tables in ADDED:
        execute(db, tables)


def execute(db: sqlite3.Connection, statements: str) -> None:
    """Execute several statements within the transaction that is open, which `executescript` would commit."""
    for statement in filter(str.strip, statements.split(";")):
        db.execute(statement)


def set_version(db: sqlite3.Connection) -> None:
    """Note that the tables are those of `VERSION`."""
    db.execute("DELETE FROM ledger_schema")
    db.execute("INSERT INTO ledger_schema VALUES (?)", (VERSION,))


def version_of(db: sqlite3.Connection) -> int:
    """Return the version of a database's tables, 0 if it has none.

    Raises:
        sqlite3.DatabaseError: The version table is damaged.
    """
    names = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if "ledger_schema" not in names:
        return 1 if "ledger_leases" in names else 0
    row = db.execute("SELECT version FROM ledger_schema").fetchone()
    if row is None or type(row[0]) is not int:
        raise sqlite3.DatabaseError("the version of the ledger's tables was changed")
    return int(row[0])


def check_version(db: sqlite3.Connection, database: str) -> int:
    """Return the version of a database's tables, 0 if it has none.

    Raises:
        LedgerUnavailableError: It is newer than this program; nothing was touched.
    """
    version = version_of(db)
    if version > VERSION:
        why = f"its tables are of version {version}, this program knows version {VERSION}; install a newer release"
        raise LedgerUnavailableError(database, why)
    return version
