"""PgBouncer in transaction mode before the tests' server, if its program is installed (`apt-get install pgbouncer`)."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote, urlsplit

import psycopg
import pytest
from postgres_server import execute, new_database
from psycopg.conninfo import conninfo_to_dict

TRIES = 2_000
POOL = 2
"""Connections to the server, fewer than one process opens to the pooler."""


@contextmanager
def pooled_database() -> Iterator[tuple[str, str]]:
    """Make a database of its own; yield its address behind PgBouncer, and that of the server itself."""
    program = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None:
        pytest.skip("pgbouncer is not installed")
    with new_database() as direct, tempfile.TemporaryDirectory(prefix="pgbouncer-") as folder:
        Path(folder).chmod(0o777)
        name = urlsplit(direct).path.removeprefix("/")
        process = subprocess.Popen([program, "-q", *_as_another(direct), str(_configured(Path(folder), name, direct))])
        address = f"postgresql://postgres@/{name}?host={quote(folder)}&port=6432"
        try:
            if not any(_answers(address) for _ in range(TRIES)):
                pytest.fail("pgbouncer does not answer")
            yield address, direct
        finally:
            process.terminate()
            process.wait()


def _answers(address: str) -> bool:
    try:
        return execute(address, "SELECT 1") == [(1,)]
    except psycopg.OperationalError:
        return False


def _as_another(direct: str) -> list[str]:
    """Return the option by which root runs it as a user who may reach the server: it refuses to be root."""
    folder = conninfo_to_dict(direct).get("host", "")
    return ["-u", Path(folder).owner() if folder.startswith("/") else "nobody"] if os.geteuid() == 0 else []


def _configured(folder: Path, name: str, direct: str) -> Path:
    given = conninfo_to_dict(direct)
    place = " ".join(f"{key}={given[key]}" for key in ("host", "port", "user", "password") if given.get(key))
    path = folder / "pgbouncer.ini"
    path.write_text(
        f"[databases]\n{name} = dbname={name} {place}\n"
        f"[pgbouncer]\nlisten_port = 6432\nunix_socket_dir = {folder}\nauth_type = any\n"
        f"pool_mode = transaction\ndefault_pool_size = {POOL}\n"
        "server_login_retry = 1\n"  # other tests may take all connections of the server for a moment
    )
    return path
