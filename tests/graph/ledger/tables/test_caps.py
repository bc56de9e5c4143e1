"""The tables of caps across runs: old days are forgotten, and corrections build on each other."""

import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from planner_executor.graph.ledger.caps import KEPT_S
from planner_executor.graph.ledger.sqlite.connection import Connection
from planner_executor.graph.ledger.tables.caps import TABLES, enter
from planner_executor.graph.record.caps import CapCorrection, CapUse, DayCap

TOKENS = DayCap("tokens", 100)
HOUR_S = 3_600.0


@pytest.fixture
def db() -> Iterator[Connection]:
    with closing(Connection(":memory:")) as connection:
        connection.script(TABLES)
        yield connection


def ended_ago(db: Connection, *ages_s: float) -> None:
    """Count a call under days that ended so long ago."""
    for age_s in ages_s:
        until = time.time() - age_s
        db.execute("INSERT INTO ledger_caps VALUES ('tokens', '', ?, 1)", (until,))
        db.execute("INSERT INTO ledger_counted VALUES (?, 'tokens', '', ?, 1)", (f"{age_s}", until))


def counts(db: Connection) -> list[int]:
    return [db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("ledger_caps", "ledger_counted")]


def test_the_first_call_of_a_day_forgets_the_days_that_are_long_over(db: Connection) -> None:
    ended_ago(db, KEPT_S + HOUR_S, KEPT_S - HOUR_S)
    enter(db, "db", [CapUse("a", ((TOKENS, 5.0),))])
    assert counts(db) == [2, 2]

    ended_ago(db, KEPT_S + HOUR_S)
    enter(db, "db", [CapUse("b", ((TOKENS, 5.0),))])
    assert counts(db) == [3, 4]


def test_a_correction_builds_on_the_one_before(db: Connection) -> None:
    enter(db, "db", [CapUse("a", ((TOKENS, 5.0),)), CapCorrection("a", {"tokens": -2.0})])
    assert db.execute("SELECT used FROM ledger_caps").fetchall() == [(3.0,)]

    enter(db, "db", [CapCorrection("a", {"tokens": -9.0})])
    assert db.execute("SELECT used FROM ledger_caps").fetchall() == [(0.0,)]
