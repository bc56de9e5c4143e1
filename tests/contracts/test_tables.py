"""A table of the ledger is made by `graph/ledger/tables/`; each place that has to know of it is held to it here."""

import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path

import pytest

from planner_executor.graph.ledger.postgres.schema import VERSION as POSTGRES_VERSION
from planner_executor.graph.ledger.sqlite.schema import VERSION as SQLITE_VERSION
from planner_executor.graph.ledger.tables.dialect import in_postgres, in_sqlite
from planner_executor.graph.ledger.tables.schema import ADDED, ADDED_COLUMNS, NEW, TABLES, Fate

ROOT = Path(__file__).parents[2]
SCHEMA = "".join(NEW + ADDED)
TABLE = re.compile(r"CREATE TABLE (?:IF NOT EXISTS )?(\w+) \(([^;]*);")
WITH_VOTES = f"{in_postgres(SCHEMA)}\nCREATE TABLE IF NOT EXISTS ledger_votes (\n    run bigint NOT NULL\n);"
MADE = {"sqlite": (8, "c41275a2d887"), "postgres": (6, "134288111f47")}
"""Version and digest of what is made; other tables or indexes need a new version, unless the last is not released."""


def unknown(schema: str, tables: Mapping[str, Fate], pages: str) -> Iterator[str]:
    """Yield each file that does not know a table that is made, or knows it as something else."""
    made = dict(TABLE.findall(schema))
    for name, columns in made.items():
        fate = tables.get(name)
        if fate is None or (fate.goes == "by run") != bool(re.search(r"^ *run ", columns, re.MULTILINE)):
            yield f"graph/ledger/tables/schema.py: {name}"
        if f"`{name}`" not in pages:
            yield f"docs/architecture.md: {name}"
    yield from (f"graph/ledger/tables/schema.py: {name}" for name in tables.keys() - made.keys())


def page() -> str:
    return (ROOT / "docs" / "architecture.md").read_text()


def test_every_table_is_known_to_removal_redaction_index_and_documentation() -> None:
    assert list(unknown(in_postgres(SCHEMA), TABLES, page())) == []
    only_on_a_server = {"ledger_appends"}
    assert set(dict(TABLE.findall(in_sqlite(SCHEMA)))) == TABLES.keys() - only_on_a_server


def test_a_new_table_is_missed_in_the_files_that_the_architecture_names() -> None:
    named = list(unknown(WITH_VOTES, TABLES, page()))
    assert named == ["graph/ledger/tables/schema.py: ledger_votes", "docs/architecture.md: ledger_votes"]
    told = {**TABLES, "ledger_votes": Fate("never")}
    assert next(unknown(WITH_VOTES, told, page())) == named[0], "its rows go with their runs"

    steps = (ROOT / "docs/architecture.md").read_text().partition("To add a table")[2].partition("\n\n")[0]
    assert {name.partition(":")[0] for name in named} <= set(re.findall(r"`([\w/.]+)`", steps))


@pytest.mark.parametrize(
    ("database", "made"),
    [("sqlite", (SQLITE_VERSION, in_sqlite(SCHEMA))), ("postgres", (POSTGRES_VERSION, in_postgres(SCHEMA)))],
)
def test_a_version_of_the_tables_makes_what_it_always_made(database: str, made: tuple[int, str]) -> None:
    words = " ".join(f"{made[1]} {ADDED_COLUMNS}".split())
    assert (made[0], sha256(words.encode()).hexdigest()[:12]) == MADE[database]
