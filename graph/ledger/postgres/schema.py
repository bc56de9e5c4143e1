"""The tables of the ledger in a PostgreSQL database, and their version."""

from planner_executor.graph.ledger.family import to_know
from planner_executor.graph.ledger.postgres.caps_table import TABLES as CAPS
from planner_executor.graph.ledger.postgres.history_table import TABLES as HISTORY
from planner_executor.graph.ledger.postgres.standing_table import TABLES as STANDING
from planner_executor.graph.ledger.postgres.transaction import Transaction
from planner_executor.graph.record.events import CONTROL, RunForked

VERSION = 4
"""Version 1 had nothing of what `ADDED` makes, and builds before the first release called part of that version 2;
version 3 had no families, and its standing approvals could last for any time."""

TO_KNOW = to_know("position('{}' in payload) > 0")
CONTROL_INDEX = f"CREATE INDEX ledger_control ON ledger_events (run, seq) WHERE kind IN {CONTROL};"

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
{CONTROL_INDEX}
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

RETENTION = f"""
CREATE TABLE IF NOT EXISTS ledger_uses (
    artifact text COLLATE "C" NOT NULL,
    run bigint NOT NULL,
    PRIMARY KEY (artifact, run)
);
CREATE INDEX IF NOT EXISTS ledger_uses_run ON ledger_uses (run);
CREATE INDEX IF NOT EXISTS ledger_forks ON ledger_events (run) WHERE kind = '{RunForked.kind}';
CREATE TABLE IF NOT EXISTS ledger_tombstones (
    number bigint PRIMARY KEY,
    thread bytea NOT NULL,
    first bigint NOT NULL,
    last bigint NOT NULL,
    heads bytea NOT NULL,
    at double precision NOT NULL,
    person text COLLATE "C" NOT NULL,
    key text COLLATE "C",
    link bytea NOT NULL,
    seal bytea
);
CREATE INDEX IF NOT EXISTS ledger_tombstones_thread ON ledger_tombstones (thread, last);
CREATE TABLE IF NOT EXISTS ledger_carried (
    name text COLLATE "C" NOT NULL,
    labels text COLLATE "C" NOT NULL,
    value double precision NOT NULL,
    PRIMARY KEY (name, labels)
);
"""
"""`ledger_uses` names the artifacts of each run, `ledger_carried` has the counts of removed runs."""

CHANGES = """
ALTER TABLE ledger_appends ADD COLUMN IF NOT EXISTS runs bigint[] NOT NULL DEFAULT '{}',
    ADD COLUMN IF NOT EXISTS number bigint NOT NULL DEFAULT (pg_current_xact_id()::text::bigint);
DROP INDEX IF EXISTS ledger_appends_at;
CREATE INDEX IF NOT EXISTS ledger_appends_number ON ledger_appends (number);
"""
"""Appends are numbered, and name their runs."""

NOTICES = """
CREATE TABLE IF NOT EXISTS ledger_notices (
    run bigint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    since double precision NOT NULL,
    address text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    asks text COLLATE "C" NOT NULL,
    tries bigint NOT NULL DEFAULT 0,
    due_at timestamptz,
    delivered boolean NOT NULL DEFAULT false,
    failure text COLLATE "C",
    PRIMARY KEY (run, kind, since, address)
);
CREATE INDEX IF NOT EXISTS ledger_notices_due ON ledger_notices (due_at) WHERE due_at IS NOT NULL;
CREATE TABLE IF NOT EXISTS ledger_noticed (position text COLLATE "C" NOT NULL);
"""
"""Deliveries of notices, and the position looked at last. A delivery without a further try has no `due_at`: it arrived,
was given up after a failure, or was dropped, not delivered and without one."""

FAMILIES = """
ALTER TABLE ledger_runs ADD COLUMN IF NOT EXISTS family bigint;
CREATE INDEX IF NOT EXISTS ledger_runs_family ON ledger_runs (family);
CREATE TABLE IF NOT EXISTS ledger_effects (
    family bigint NOT NULL,
    tool text COLLATE "C" NOT NULL,
    digest text COLLATE "C" NOT NULL,
    run bigint NOT NULL,
    step text COLLATE "C" NOT NULL,
    PRIMARY KEY (family, tool, digest, run, step)
);
CREATE INDEX IF NOT EXISTS ledger_effects_run ON ledger_effects (run);
"""
"""The calls that each run has begun and that may not be repeated: identical ones have the same digest, and one with a
redacted value has none. The family of a run is the number of its first run. See `graph.ledger.family`."""

DEADLINES = """
ALTER TABLE ledger_index ADD COLUMN IF NOT EXISTS due_at double precision, ADD COLUMN IF NOT EXISTS review text;
CREATE INDEX IF NOT EXISTS ledger_index_due ON ledger_index (due_at) WHERE due_at IS NOT NULL;
"""
"""The open request of a run, as JSON, and when something falls due for it."""

ADDED = (RETENTION, CHANGES, NOTICES, STANDING, CAPS, HISTORY, DEADLINES, FAMILIES)

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


def version_of(tx: Transaction) -> int:
    """Return the version of the tables in the connection's schema, 0 if there are none."""
    # `to_regclass` would answer from a cache, which misses what another process has just made.
    there = tx.ask("SELECT FROM pg_class WHERE relname = 'ledger_schema' AND pg_table_is_visible(oid)")
    row = tx.one("SELECT max(version) FROM ledger_schema") if there else None
    return int(row[0]) if row and row[0] is not None else 0
