"""What a ledger tells a run of the calls of its thread's other runs: those that a person has to be asked about."""

from typing import Any

import pytest
from ledger_drivers import Driver, use

from planner_executor.graph.ledger.run_store import RunStore
from planner_executor.graph.record.call import Call
from planner_executor.graph.record.events import Draft
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.testing import drafted

STARTED = {"goal": "g", "constraints": []}
CALL = {"key": "k1", "call": 0, "tool": "pay", "args": {"to": "x"}, "repeatable": False, "revision": 1}
DONE = {"call": 0, "status": "succeeded", "value": "paid"}


def begun(**more: Any) -> Draft:
    return drafted("call_started", {**CALL, **more}, "a")


def ended(**more: Any) -> Draft:
    return drafted("call_finished", {**DONE, **more}, "a")


def settled(happened: bool, **more: Any) -> Draft:
    entry = {"key": "k1", "happened": happened, "result": None, **more}
    about = {"decision": "settle", "by": "person", "digest": None, "binding": None, "message": None, "checkpoint": "c"}
    return drafted("decided", {**about, "settled": [entry]})


LONG = {"value": "a long receipt " * 100}
FAILED = {"status": "failed", "value": None, "error": "down"}
UNMET = drafted("step_checked", {"met": False, "error": "will not do", "revision": 1, "checks": []}, "a")
WAITS = drafted(
    "step_uncertain",
    {"key": "k9", "tool": "pay", "args": {"to": "x"}, "revision": 1,
     "calls": [{"key": "k1", "run": "t.1", "step": "a", "seq": 2, "error": "down"}]}, "b",
)  # fmt: skip


def told(driver: Driver, *runs: list[Draft], n: int = 9) -> list[Call]:
    """Return what the `n`-th run is told of others that were written like this."""

    async def work(ledger: RunStore) -> list[Call]:
        for drafts in runs:
            await ledger.open_run("t", [drafted("run_started", STARTED), *drafts])
        await ledger.open_run("another thread", [drafted("run_started", STARTED), begun()])
        return list((await ledger.calls_elsewhere(RunKey("t", n))).calls)

    return use(driver, work)


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
def test_a_call_that_may_have_happened_is_told(driver, drafts: list[Draft]) -> None:
    (call,) = told(driver, drafts)

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
def test_a_call_that_is_nobodys_question_is_not_told(driver, drafts: list[Draft]) -> None:
    assert told(driver, drafts) == []


def test_a_run_is_told_of_others_and_not_of_its_own_calls(driver: Driver) -> None:
    assert told(driver, [begun()], n=1) == []


@pytest.mark.parametrize("happened", [True, False])
def test_what_one_run_has_settled_of_another_holds_for_all_runs_after_it(driver: Driver, happened: bool) -> None:
    calls = told(driver, [begun(), ended(**FAILED)], [WAITS, settled(happened, run="t.1")])

    assert [(call.run, call.settled, call.is_uncertain) for call in calls] == ([("t.1", True, False)] * happened)


def test_a_call_that_was_begun_anew_since_is_uncertain_again(driver: Driver) -> None:
    (call,) = told(driver, [begun(), ended(**FAILED), begun()], [WAITS, settled(happened=False, run="t.1")])

    assert call.is_uncertain


def test_a_person_who_said_in_its_own_run_that_it_happened_is_told(driver: Driver) -> None:
    (call,) = told(driver, [begun(), ended(**FAILED), settled(happened=True)])

    assert call.settled and not call.is_uncertain


def test_a_damaged_run_without_such_calls_is_not_read(driver: Driver) -> None:
    told(driver, [begun(repeatable=True), ended()])
    driver.change(RunKey("t", 1), 1, "at", 1.0)

    assert told(driver) == []
