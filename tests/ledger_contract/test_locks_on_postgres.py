"""PostgreSQL counts under a row lock: whoever counts second reads what the first has committed, and no older sum.

Two transactions are held open on connections of their own, so that their order is the same each time.
"""

import threading
import time
from collections.abc import Callable

import psycopg
import pytest
from ledger_drivers import NOTE, PostgresDriver, begun
from postgres_server import connected, execute

from planner_executor.graph.errors import AgentError, CapReachedError, StandingSpentError
from planner_executor.graph.ledger.postgres.transaction import WRITES, Transaction
from planner_executor.graph.ledger.tables import caps, standing
from planner_executor.graph.record.caps import CapUse, DayCap
from planner_executor.graph.record.standing_approval import StandingApproval, StandingCall

SENDS = DayCap("calls.send", 2)
FIRST = CapUse("first", ((SENDS, 1.0),))
GIVEN = StandingApproval(
    id="a1",
    tool="pay",
    args={},
    at_most=1,
    fingerprint="f",
    policy="p",
    given_by=("server:ada",),
    given_at=1000.0,
    until=time.time() + 3600,
)


def sends(tx: Transaction, call: str) -> None:
    caps.enter(tx, "db", [CapUse(call, ((SENDS, 1.0),))])


def pays(tx: Transaction, call: str) -> None:
    standing.count(tx, "db", [StandingCall("a1", call, "t.1")])


@pytest.mark.parametrize(("count", "refusal"), [(sends, CapReachedError), (pays, StandingSpentError)])
async def test_the_second_of_two_open_transactions_sees_the_call_of_the_first(
    count: Callable[[Transaction, str], None], refusal: type[AgentError], tmp_path: object
) -> None:
    driver = PostgresDriver(tmp_path)  # type: ignore[arg-type]

    async with begun(driver) as (run, ledger):
        await ledger.write(run, [NOTE], after=0, caps=[FIRST], given=[GIVEN])
    outcome: list[type[Exception] | None] = []
    with connected(driver.address) as one, connected(driver.address) as two:
        first, second = Transaction(one, WRITES), Transaction(two, WRITES)
        count(first, "second")

        def counted() -> None:
            try:
                count(second, "third")
                second.commit()
                outcome.append(None)
            except AgentError as error:
                outcome.append(type(error))

        other = threading.Thread(target=counted)
        other.start()
        while not _waits(driver.address, two) and other.is_alive():
            pass
        first.commit()
        other.join()
    assert outcome == [refusal]


def _waits(address: str, connection: "psycopg.Connection[object]") -> bool:
    query = "SELECT count(*) FROM pg_locks WHERE pid = %s AND NOT granted"
    return bool(execute(address, query, connection.info.backend_pid)[0][0])
