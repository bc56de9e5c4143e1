"""The tables of the ledger, as both databases make them; see `docs/records.md` for their versions."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from planner_executor.graph.ledger.calls_to_know import TO_KNOW as KNOWN_BY
from planner_executor.graph.ledger.search import LIVE, TOOK
from planner_executor.graph.ledger.tables.caps import TABLES as CAPS
from planner_executor.graph.ledger.tables.dialect import (
    BY_KEY,
    BYTES,
    INT,
    NAME,
    OF_RUN,
    REAL,
    TEXT,
    changing,
    either,
)
from planner_executor.graph.ledger.tables.outbox import TABLES as NOTICES
from planner_executor.graph.ledger.tables.standing import TABLES as STANDING
from planner_executor.graph.ledger.tables.transaction import Transaction
from planner_executor.graph.record.events import CONTROL, RunForked
from planner_executor.graph.record.waiting_filter import NEVER

_IF_NEW = either("IF NOT EXISTS ", "")
_ROW_ID = either("INTEGER PRIMARY KEY", "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY")
_BEAT_AT = either("", ",\n    beat_at timestamptz NOT NULL")
_SHARE = either("", "\n    share smallint NOT NULL,")
_TOP = either(",\n    top INTEGER NOT NULL", "")

CONTROL_INDEX = f"CREATE INDEX IF NOT EXISTS ledger_control ON ledger_events (run, seq) WHERE kind IN {CONTROL};"

RECORDS = f"""
CREATE TABLE {_IF_NEW}ledger_runs (
    id {_ROW_ID},
    thread {NAME} NOT NULL,
    n {INT} NOT NULL,
    events {INT} NOT NULL DEFAULT 0,
    key {TEXT},
    seal {BYTES},
    UNIQUE (thread, n)
){changing(70, "")};
CREATE TABLE {_IF_NEW}ledger_events (
    run {OF_RUN},
    seq {INT} NOT NULL,
    kind {NAME} NOT NULL,
    step {NAME},
    at {REAL} NOT NULL,
    payload {NAME} NOT NULL,
    salt {BYTES} NOT NULL,
    digest {BYTES} NOT NULL,
    link {BYTES} NOT NULL,
    PRIMARY KEY (run, seq)
);
{CONTROL_INDEX}
CREATE TABLE {_IF_NEW}ledger_artifacts (
    id {NAME} PRIMARY KEY,
    content {NAME} NOT NULL
);
CREATE TABLE {_IF_NEW}ledger_inbox (
    id {_ROW_ID},
    run {OF_RUN},
    message {TEXT} NOT NULL
);
CREATE TABLE {_IF_NEW}ledger_leases (
    run {INT} PRIMARY KEY,
    owner {NAME} NOT NULL,
    token {INT} NOT NULL,
    beat {INT} NOT NULL{_BEAT_AT}
){changing(50, "")};
"""

APPENDS = """
CREATE INDEX ledger_inbox_run ON ledger_inbox (run);
CREATE INDEX ledger_leases_owner ON ledger_leases (owner) WHERE owner != '';
CREATE TABLE ledger_appends (
    id uuid PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ledger_appends_at ON ledger_appends (at);
"""
"""On a server alone: the transactions that wrote events, which a lost connection leaves open."""

_HOLDS = either("instr(payload, '{0}') > 0", "position('{0}' in payload) > 0")
_KNOWN = [f"kind = '{kind}' AND {_HOLDS.format(text)}" for kind, text in KNOWN_BY.items()]
TO_KNOW = f"({' OR '.join(_KNOWN)})"
"""Superset of the events that make a call uncertain or settle it."""

INDEX = f"""
CREATE INDEX ledger_to_know ON ledger_events (run, seq) WHERE {TO_KNOW};
CREATE TABLE ledger_index (
    run {either("INTEGER PRIMARY KEY REFERENCES ledger_runs (id)", "bigint PRIMARY KEY")},
    seq {INT} NOT NULL,
    status {NAME} NOT NULL,
    goal {TEXT} NOT NULL,
    reason {TEXT},
    waits_for {NAME},
    asks {TEXT} NOT NULL,
    people {TEXT} NOT NULL,
    tags {TEXT} NOT NULL,
    started_at {REAL} NOT NULL,
    updated_at {REAL} NOT NULL,
    ended_at {REAL},
    waiting_since {REAL},
    revision {INT} NOT NULL,
    steps {INT} NOT NULL,
    succeeded {INT} NOT NULL,
    tool_calls {INT} NOT NULL,
    model_calls {INT} NOT NULL,
    tokens {INT} NOT NULL,
    cost_usd {REAL} NOT NULL
){changing(70, "")};
CREATE INDEX ledger_index_status ON ledger_index (status, run);
CREATE INDEX ledger_index_waiting ON ledger_index (waits_for, waiting_since) WHERE waits_for IS NOT NULL;
CREATE TABLE ledger_tags (
    tag {NAME} NOT NULL,
    run {OF_RUN},
    PRIMARY KEY ({either("tag, run", "run, tag")})
){BY_KEY};
CREATE INDEX {either("ledger_tags_run ON ledger_tags (run)", "ledger_tags_tag ON ledger_tags (tag, run)")};
CREATE TABLE ledger_counters (
    name {NAME} NOT NULL,
    labels {NAME} NOT NULL,{_SHARE}
    value {REAL} NOT NULL,
    PRIMARY KEY (name, labels{either("", ", share")})
){changing(50)};
CREATE TABLE ledger_schema (version {INT} NOT NULL);
"""
"""What version 1 of a file had not. On a server a count is spread over shares: runs that end at the same time do not
wait for each other."""

RETENTION = f"""
CREATE TABLE IF NOT EXISTS ledger_uses (
    artifact {NAME} NOT NULL,
    run {OF_RUN},
    PRIMARY KEY (artifact, run)
){BY_KEY};
{either("", "CREATE INDEX IF NOT EXISTS ledger_uses_run ON ledger_uses (run);")}
CREATE INDEX IF NOT EXISTS ledger_forks ON ledger_events (run) WHERE kind = '{RunForked.kind}';
CREATE TABLE IF NOT EXISTS ledger_tombstones (
    number {INT} PRIMARY KEY,
    thread {BYTES} NOT NULL,
    first {INT} NOT NULL,
    last {INT} NOT NULL,
    heads {BYTES} NOT NULL,
    at {REAL} NOT NULL,
    person {NAME} NOT NULL,
    key {NAME},
    link {BYTES} NOT NULL,
    seal {BYTES}{_TOP}
);
CREATE INDEX IF NOT EXISTS ledger_tombstones_thread ON ledger_tombstones (thread, last);
CREATE TABLE IF NOT EXISTS ledger_carried (
    name {NAME} NOT NULL,
    labels {NAME} NOT NULL,
    value {REAL} NOT NULL,
    PRIMARY KEY (name, labels)
){BY_KEY};
"""
"""`ledger_uses` names the artifacts of each run, `ledger_carried` has the counts of removed runs, and `top`, in a file,
is the highest number that the tables had given to a run by then."""

CHANGES = """
ALTER TABLE ledger_appends ADD COLUMN IF NOT EXISTS runs bigint[] NOT NULL DEFAULT '{}',
    ADD COLUMN IF NOT EXISTS number bigint NOT NULL DEFAULT (pg_current_xact_id()::text::bigint);
DROP INDEX IF EXISTS ledger_appends_at;
CREATE INDEX IF NOT EXISTS ledger_appends_number ON ledger_appends (number);
"""
"""On a server alone: appends are numbered, and name their runs."""

HISTORY = either(
    """
CREATE TABLE IF NOT EXISTS ledger_history (
    likeness TEXT PRIMARY KEY,
    samples TEXT NOT NULL
) WITHOUT ROWID;
""",
    """
CREATE TABLE IF NOT EXISTS ledger_history (
    likeness text COLLATE "C" NOT NULL,
    share smallint NOT NULL,
    samples text[] NOT NULL,
    PRIMARY KEY (likeness, share)
) WITH (fillfactor = 50);
""",
)

FAMILIES = f"""
CREATE INDEX IF NOT EXISTS ledger_runs_family ON ledger_runs (family);
CREATE TABLE IF NOT EXISTS ledger_effects (
    family {INT} NOT NULL,
    tool {NAME} NOT NULL,
    digest {NAME} NOT NULL,
    run {OF_RUN},
    step {NAME} NOT NULL,
    PRIMARY KEY (family, tool, digest, run, step)
){BY_KEY};
CREATE INDEX IF NOT EXISTS ledger_effects_run ON ledger_effects (run);
"""
"""The calls that each run has begun and that may not be repeated: identical ones have the same digest, and one with a
redacted value has none. See `graph.ledger.family`."""

DEADLINES = "CREATE INDEX IF NOT EXISTS ledger_index_due ON ledger_index (due_at) WHERE due_at IS NOT NULL;"

ORDERS = f"""
CREATE INDEX IF NOT EXISTS ledger_index_until ON ledger_index (waits_for, (coalesce(until, {NEVER:.0f})))
    WHERE waits_for IS NOT NULL;
CREATE INDEX IF NOT EXISTS ledger_index_amount ON ledger_index (waits_for, (-coalesce(amount, 0)))
    WHERE waits_for IS NOT NULL;
""" + either(
    f"""
DROP INDEX IF EXISTS ledger_index_waiting;
CREATE INDEX IF NOT EXISTS ledger_index_told ON ledger_index (waits_for, waiting_since, told)
    WHERE waits_for IS NOT NULL;
CREATE INDEX IF NOT EXISTS ledger_index_asked_cost ON ledger_index (waits_for, (-cost_usd)) WHERE waits_for IS NOT NULL;
CREATE INDEX IF NOT EXISTS ledger_index_cost ON ledger_index (status, cost_usd);
CREATE INDEX IF NOT EXISTS ledger_index_took ON ledger_index (status, {TOOK}) WHERE status NOT IN {LIVE};
""",
    "",
)
"""By what lists are ordered; in a file, what is looked for is found in an index, without a look at other rows. A server
has no index of what changes while a run works: a new version of a row would need an entry in each of its indexes."""

NEW = (RECORDS, either("", APPENDS), INDEX)
ADDED = (RETENTION, either("", CHANGES), NOTICES, STANDING, CAPS, HISTORY, DEADLINES, FAMILIES, ORDERS)
ADDED_COLUMNS = (
    ("ledger_index", "due_at", REAL),
    ("ledger_index", "review", TEXT),
    ("ledger_index", "started_by", TEXT),
    ("ledger_index", "until", REAL),
    ("ledger_index", "amount", REAL),
    ("ledger_index", "told", TEXT),
    ("ledger_runs", "family", INT),
)
"""Table, column and type. `review` is the open request of a run, as JSON, something falls due for it at `due_at`,
it is open `until` then, asks for that `amount` and is found by what is `told` of it;
`family` is the number of the first run of its family."""
_HAS_COLUMN = either(
    "SELECT 1 FROM pragma_table_info(%s) WHERE name = %s",
    "SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attname = %s AND NOT attisdropped",
)


class Fate(NamedTuple):
    """What becomes of a table's rows when a thread is removed, and when a value is redacted or the index made anew.

    `goes`: "by run", as the column `run` names it; "in the end", if `removal` or `uses` say so; "never", if it holds
    nothing of a run that a person could read. A redaction takes values out of the rows that are `redacted`.
    """

    goes: Literal["by run", "in the end", "never"]
    redacted: bool = False
    is_index: bool = False


TABLES: Mapping[str, Fate] = {
    "ledger_runs": Fate("in the end"),
    "ledger_events": Fate("by run", redacted=True),
    "ledger_artifacts": Fate("in the end", redacted=True),
    "ledger_inbox": Fate("by run", redacted=True),
    "ledger_leases": Fate("by run"),
    "ledger_appends": Fate("never"),
    "ledger_index": Fate("by run", redacted=True, is_index=True),
    "ledger_tags": Fate("by run", redacted=True, is_index=True),
    "ledger_counters": Fate("never", is_index=True),
    "ledger_schema": Fate("never"),
    "ledger_uses": Fate("by run"),
    "ledger_tombstones": Fate("never"),
    "ledger_carried": Fate("never"),
    "ledger_notices": Fate("by run"),
    "ledger_noticed": Fate("never"),
    "ledger_standing": Fate("never", redacted=True),
    "ledger_caps": Fate("never"),
    "ledger_counted": Fate("never"),
    "ledger_turns": Fate("never"),
    "ledger_history": Fate("never", is_index=True),
    "ledger_effects": Fate("by run", redacted=True),
}
"""Every table of the ledger; another one is held to it by `tests/contracts/test_tables.py`."""
OF_A_RUN = tuple(name for name, fate in TABLES.items() if fate.goes == "by run")
REDACTED = tuple(name for name, fate in TABLES.items() if fate.redacted)
OF_THE_INDEX = tuple(name for name, fate in TABLES.items() if fate.is_index)


def create(tx: Transaction) -> None:
    """Make the tables of a new database, within a transaction."""
    for script in NEW:
        tx.script(script)
    add(tx)


def add(tx: Transaction) -> None:
    """Make what was added since the first release, as far as it is missing, within a transaction."""
    for table, column, kind in ADDED_COLUMNS:
        if tx.one(_HAS_COLUMN, table, column) is None:
            tx.tell(f"ALTER TABLE {table} ADD COLUMN {column} {kind}")
    for script in ADDED:
        tx.script(script)


def set_version(tx: Transaction, version: int) -> None:
    """Note of which version the tables are."""
    tx.tell("DELETE FROM ledger_schema")
    tx.tell("INSERT INTO ledger_schema VALUES (%s)", version)
