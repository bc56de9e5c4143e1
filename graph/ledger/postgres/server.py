"""Connections to a PostgreSQL server, and advice if it cannot be used."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from planner_executor.graph.errors import LedgerUnavailableError
from planner_executor.graph.ledger.address import address_fault, shown_address
from planner_executor.graph.ledger.postgres.migration import bring_up
from planner_executor.graph.ledger.postgres.texts import add_texts
from planner_executor.graph.ledger.postgres.transaction import LIMITS, WRITES, Transaction

Connection = psycopg.Connection[Any]

DIRECT = "PLANNER_EXECUTOR_DB_DIRECT"
"""Address of the server itself, if the ledger's address is that of a pooler."""
PATIENCE_S = 10.0
"""A server that restarts is waited for so long, once for all that is to be written."""
LOOK_S = 0.1

DEFAULTS = {
    "application_name": "planner-executor",
    "connect_timeout": "5",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "15000",
}
"""A server that is gone without a word is noticed after seconds, not hours. The address may say otherwise."""

OTHERS = "another application has a table of that name: name a schema of your own, as in ?options=-csearch_path%3Dagent"
# The first that stands in the message counts, so narrower words come before wider ones.
ADVICE = {
    "startup parameter": "set it for the user instead, as in ALTER ROLE agent SET search_path = agent",
    "no password supplied": "put the password into the address, PGPASSWORD or a password file",
    "password": "check the user and the password of the address",
    'role "': "make the user, or name another one in the address",
    "definition of service": "correct this part of the address",
    'database "': "make it, or name another one in the address",
    "refused": "start the server, or check host and port of the address",
    "No such file": "start the server, or check the host of the address",
    "translate host": "check the host of the address",
    "read-only": "name the primary server in the address",
    "No space left": "free some space on the server and resume the run",
    "could not extend": "free some space on the server and resume the run",
    "lock timeout": "another process holds it, try again when it is done",
    "permission denied": "give the user of the address the right to create and change tables in its schema",
    "already exists": OTHERS,
    'column "thread_id"': OTHERS,
    "cannot contain NUL": "name the thread without it",
    "no schema": "make the schema that the address names in search_path",
    "too many": "let the server have more connections, or put a pooler before it",
    "resolve host": "check the host of the address",
    "connection is bad: invalid": "correct this part of the address",
    "connection": "the server may be restarting: resume the run once it answers",
}


class Server:
    """Makes connections to one database; `name` is its address without the password."""

    def __init__(self, address: str, direct: bool = False) -> None:
        self.name, self._address = shown_address(address), address
        self._in_vain_at, self._has_answered = -math.inf, direct

    @property
    def left_s(self) -> float:
        """How long the server is waited for now: a wait in vain is not repeated by every caller."""
        return min(PATIENCE_S, time.monotonic() - self._in_vain_at) if self._has_answered else 0.0

    def give_up(self) -> None:
        """Note that the server was waited for in vain."""
        self._in_vain_at = time.monotonic()

    def connect(self) -> Connection:
        """Open a connection, and make the tables of a new database.

        Raises:
            LedgerUnavailableError: The address cannot be read, or the tables are of a newer version.
            psycopg.Error: The server does not answer, or refuses.
        """
        # Nothing is prepared: a pooler may give the next transaction to a connection that does not have it.
        connection = psycopg.connect(**parameters(self._address), autocommit=True, prepare_threshold=None)
        add_texts(connection)
        try:
            in_transaction(connection, f"{WRITES}; {LIMITS}", lambda tx: bring_up(tx, self.name))
        except BaseException:
            connection.close()
            raise
        self._has_answered = True
        return connection


def parameters(address: str) -> dict[str, Any]:
    """Return the parameters of a connection.

    Raises:
        LedgerUnavailableError: The address cannot be read; the message holds no part of it.
    """
    fault = address_fault(address)
    try:
        given = conninfo_to_dict(address) if fault is None else {}
    except psycopg.Error:
        fault = "the address has a parameter that PostgreSQL does not know, or is cut off"
    if fault is not None:
        raise LedgerUnavailableError(shown_address(address), fault) from None
    # Behind what is given: in another encoding some texts of a run could not be sent.
    return {**DEFAULTS, **given, "client_encoding": "UTF8"}


def in_transaction(connection: Connection, begin: str, do: Callable[[Transaction], Any]) -> Any:
    """Run a function in a transaction of its own."""
    tx = Transaction(connection, begin)
    try:
        result = do(tx)
        tx.commit()
    except BaseException:
        roll_back(connection)
        raise
    return result


def roll_back(connection: Connection) -> None:
    """Roll back what is open; a connection that is lost has nothing open."""
    try:
        connection.rollback()
    except psycopg.Error:
        connection.close()


def is_lost(connection: Connection | None) -> bool:
    """Whether a connection cannot be used any more."""
    return connection is None or connection.closed or connection.broken


def is_pooled(connection: Connection) -> bool:
    """Whether a pooler answers in the place of the server: it makes up the process number that a client is given."""
    row = connection.execute("SELECT pg_backend_pid()").fetchone()
    return row is not None and row[0] != connection.info.backend_pid


@contextmanager
def used(name: str) -> Iterator[None]:
    """Say that a database cannot be used if its server fails within the block.

    Raises:
        LedgerUnavailableError: It failed.
    """
    try:
        yield
    except psycopg.Error as error:
        raise LedgerUnavailableError(name, advice(error)) from error


def advice(error: psycopg.Error) -> str:
    """Return the server's message, in one line, with the next step."""
    text = " ".join((error.diag.message_primary or str(error)).split())
    moves = (move for words, move in ADVICE.items() if words in text)
    return "; ".join([text or "the connection was lost", *islice(moves, 1)])
