"""What a ledger tells a run of the calls of its thread's other runs: those that a person has to be asked about."""

import asyncio
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from graph.ledger.protocol import RunKey
from graph.ledger.sqlite.ledger import SqliteLedger
from graph.ledger.sqlite.packed_payload import add_functions
from graph.ledger.sqlite.queries import TO_KNOW, runs_to_know
from graph.record.events import Draft
from graph.record.run_state import Call

STARTED = {"goal": "g", "constraints": []}
CALL = {"key": "k1", "call": 0, "tool": "pay", "args": {"to": "x"}, "repeatable": False, "revision": 1}
DONE = {"call": 0, "status": "succeeded", "value": "paid"}


def begun(**more: Any) -> Draft:
    return Draft("call_started", {**CALL, **more}, "a")


def ended(**more: Any) -> Draft:
    return Draft("call_finished", {**DONE, **more}, "a")


def settled(happened: bool, **more: Any) -> Draft:
    entry = {"key": "k1", "happened": happened, "result": None, **more}
    about = {"decision": "settle", "by": "person", "digest": None, "binding": None, "message": None, "checkpoint": "c"}
    return Draft("decided", {**about, "settled": [entry]})


LONG = {"value": "a long receipt, which is stored packed " * 50}
FAILED = {"status": "failed", "value": None, "error": "down"}
UNMET = Draft("step_checked", {"met": False, "error": "will not do", "revision": 1, "checks": []}, "a")
WAITS = Draft(
    "step_uncertain",
    {"key": "k9", "tool": "pay", "args": {"to": "x"}, "revision": 1,
     "calls": [{"key": "k1", "run": "t.1", "step": "a", "seq": 2, "error": "down"}]}, "b",
)  # fmt: skip


def told(*runs: list[Draft], n: int = 9, path: str | Path = ":memory:") -> list[Call]:
    """Return what the `n`-th run is told of others that were written like this."""

    async def work() -> list[Call]:
        ledger = SqliteLedger(path)
        try:
            for drafts in runs:
                await ledger.open_run("t", [Draft("run_started", STARTED), *drafts])
            await ledger.open_run("another thread", [Draft("run_started", STARTED), begun()])
            return await ledger.calls_elsewhere(RunKey("t", n))
        finally:
            await ledger.close()

    return asyncio.run(work())


@pytest.mark.parametrize(
    "drafts",
    [
        [begun()],
        [begun(), ended(**FAILED)],
        [begun(), ended(), UNMET],
        [begun(), ended(**FAILED, note=LONG)],
        [begun(), begun(key="k2", args={"to": "y"}), ended()],
        [begun(), ended(), begun(), ended(**FAILED)],
        [begun(), ended(**FAILED), settled(happened=False), begun()],
    ],
)
def test_a_call_that_may_have_happened_is_told(drafts: list[Draft]) -> None:
    (call,) = told(drafts)

    assert (call.key, call.run, call.is_uncertain) == ("k1", "t.1", True)


@pytest.mark.parametrize(
    "drafts",
    [
        [begun(), ended()],
        [begun(), ended(**LONG)],
        [begun(repeatable=True)],
        [begun(), ended(**FAILED, nothing_happened=True)],
        [begun(), ended(**FAILED), settled(happened=False)],
        [begun(args={"repeatable": False}), ended()],
    ],
)
def test_a_call_that_is_nobodys_question_is_not_told(drafts: list[Draft]) -> None:
    assert told(drafts) == []


def test_a_run_is_told_of_others_and_not_of_its_own_calls() -> None:
    assert told([begun()], n=1) == []


@pytest.mark.parametrize("happened", [True, False])
def test_what_one_run_has_settled_of_another_holds_for_all_runs_after_it(happened: bool) -> None:
    calls = told([begun(), ended(**FAILED)], [WAITS, settled(happened, run="t.1")])

    assert [(call.run, call.settled, call.is_uncertain) for call in calls] == ([("t.1", True, False)] * happened)


def test_a_call_that_was_begun_anew_since_is_uncertain_again() -> None:
    (call,) = told([begun(), ended(**FAILED), begun()], [WAITS, settled(happened=False, run="t.1")])

    assert call.is_uncertain


def test_a_person_who_said_in_its_own_run_that_it_happened_is_told() -> None:
    (call,) = told([begun(), ended(**FAILED), settled(happened=True)])

    assert call.settled and not call.is_uncertain


def test_runs_in_which_all_went_well_are_not_read_and_an_index_finds_the_others(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    told(*[[begun(), ended(**LONG)]] * 5, [begun()], path=path)

    with sqlite3.connect(path) as db:
        add_functions(db)
        assert runs_to_know(db, RunKey("t", 9)) == [6]
        query = f"SELECT n FROM ledger_runs JOIN ledger_events ON run = id WHERE thread = 't' AND {TO_KNOW}"
        assert "ledger_to_know" in str(db.execute(f"EXPLAIN QUERY PLAN {query}").fetchall())
