"""Which ledger belongs to which checkpointer, and how the file of both is opened."""

import asyncio
import stat
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver

from planner_executor.graph.checkpoints.checkpoint import database, ledger_of, open_checkpointer
from planner_executor.graph.errors import ConfigError, LedgerUnavailableError


def of(given: Any, checkpointer: Any, check: Any = lambda name: None) -> Any:
    return asyncio.run(ledger_of(given, checkpointer, check)())


def test_the_database_is_the_one_that_the_environment_names(monkeypatch: pytest.MonkeyPatch) -> None:
    assert database() == "planner-executor.db"
    monkeypatch.setenv("PLANNER_EXECUTOR_DB", "other.db")
    assert database() == "other.db"


def test_a_ledger_is_kept_in_the_file_of_its_checkpointer(tmp_path: Path) -> None:
    with SqliteSaver.from_conn_string(str(tmp_path / "runs.db")) as saver:
        assert of(None, saver).name == str((tmp_path / "runs.db").resolve())


def test_a_ledger_that_is_named_goes_before_that_file(tmp_path: Path) -> None:
    with SqliteSaver.from_conn_string(str(tmp_path / "runs.db")) as saver:
        assert of(tmp_path / "other.db", saver).name == str((tmp_path / "other.db").resolve())


def test_an_open_ledger_is_taken_as_it_is() -> None:
    ledger = of(None, None)

    assert of(ledger, InMemorySaver()) is ledger


def test_graphs_over_one_checkpointer_in_memory_share_one_ledger() -> None:
    saver = InMemorySaver()

    assert of(None, saver) is of(None, saver)
    assert of(None, saver) is not of(None, InMemorySaver())


def test_a_checkpointer_of_a_kind_whose_file_is_not_known_needs_a_named_ledger() -> None:
    with pytest.raises(ConfigError, match=r"ledger='runs\.db'"):
        of(None, BaseCheckpointSaver())


def test_a_file_that_is_refused_is_refused_when_the_graph_is_built(tmp_path: Path) -> None:
    def refuse(name: str) -> None:
        raise ConfigError(f"{name} is refused")

    with pytest.raises(ConfigError, match="is refused"):
        ledger_of(tmp_path / "runs.db", None, refuse)


async def test_a_new_file_is_its_owners_alone(tmp_path: Path) -> None:
    async with open_checkpointer(tmp_path / "runs.db"):
        pass

    assert stat.S_IMODE((tmp_path / "runs.db").stat().st_mode) == 0o600


async def test_a_file_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    with pytest.raises(LedgerUnavailableError, match="no folder"):
        async with open_checkpointer(tmp_path / "no folder" / "runs.db"):
            pass
