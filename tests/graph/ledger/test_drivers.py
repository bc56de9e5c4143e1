"""An address says which driver opens a ledger."""

import asyncio
from pathlib import Path

import pytest

from planner_executor.graph.errors import ConfigError, LedgerUnavailableError
from planner_executor.graph.ledger.drivers import file_of, open_ledger
from planner_executor.graph.ledger.sqlite.ledger import SqliteLedger
from planner_executor.graph.ledger.sqlite.memory import MemoryLedger
from planner_executor.graph.testing import drafted

STARTED = drafted("run_started", {"goal": "g", "constraints": []})


def test_a_path_is_a_file_whether_given_as_text_or_not(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"

    for address in (path, str(path)):
        ledger = open_ledger(address)
        assert isinstance(ledger, SqliteLedger) and file_of(ledger) == str(path)
    assert not path.exists()  # until it is used


def test_each_ledger_in_memory_is_one_of_its_own_and_touches_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    one, other = open_ledger(":memory:"), open_ledger(":memory:")
    assert isinstance(one, MemoryLedger) and file_of(one) is None

    run = asyncio.run(one.open_run("t", [STARTED]))

    assert asyncio.run(one.runs()) == [run] and asyncio.run(other.runs()) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["", "  "])
def test_a_blank_name_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="blank; name a file"):
        open_ledger(name)


@pytest.mark.parametrize("name", ["file:runs.db", "file:x?mode=memory"])
def test_an_address_of_sqlite_is_refused_and_is_no_file_of_that_name(name: str) -> None:
    with pytest.raises(ConfigError, match="as SQLite writes addresses; name the path alone"):
        open_ledger(name)


async def test_a_device_is_no_database() -> None:
    with pytest.raises(LedgerUnavailableError, match="no regular file; name a file"):
        await open_ledger("/dev/null").runs()
