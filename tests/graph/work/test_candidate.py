"""Which unfinished runs a worker may continue, and why it leaves the others."""

from dataclasses import replace

import pytest

from planner_executor.graph.record.events import (
    ASKED,
    HANDED_OVER,
    INTERRUPTED,
    Draft,
    Event,
    Paused,
    ReviewRequested,
    RunEnded,
    RunStarted,
)
from planner_executor.graph.record.review_state import RecordedRequest
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.testing import drafted
from planner_executor.graph.work.candidate import Candidate, due_in_s, hindrance, pause_reason

EXECUTING, ASIDE = drafted("executing", {}), drafted("standing_revoked", {"id": "sa-1", "approver": "os:ada"})
STEERED = drafted("steered", {"constraints": []})


def paused(reason: str) -> Draft:
    return drafted("paused", {"reason": reason})


def candidate(*drafts: Draft, origin: str | None = "facade") -> Candidate:
    events = [Event.written(seq, 0.0, draft) for seq, draft in enumerate(drafts, 1)]
    record = RunState()
    record.assignment = replace(record.assignment, started=RunStarted(goal="", origin=origin))
    return Candidate(RunKey("t", 1), record, events)


@pytest.mark.parametrize(
    ("drafts", "reason"),
    [
        ((), None),
        ((EXECUTING,), None),
        ((paused(ASKED),), ASKED),
        ((paused(ASKED), STEERED), ASKED),
        ((paused(INTERRUPTED), ASIDE), INTERRUPTED),
        ((paused(ASKED), EXECUTING), None),
        ((paused(ASKED), EXECUTING, paused(HANDED_OVER)), HANDED_OVER),
    ],
)
def test_a_run_stands_paused_until_it_is_executed_again(drafts: tuple[Draft, ...], reason: str | None) -> None:
    assert pause_reason(candidate(*drafts).events) == reason


@pytest.mark.parametrize(
    ("run", "why"),
    [
        (candidate(), None),
        (candidate(origin="server"), None),
        (candidate(paused(HANDED_OVER)), None),
        (candidate(paused(ASKED)), "a person paused it"),
        (candidate(origin=None), "started by a graph of its own"),
        (candidate(origin="chat"), "started by a graph of its own"),
    ],
)
def test_a_run_goes_on_unless_a_person_or_another_program_has_it(run: Candidate, why: str | None) -> None:
    found = hindrance(run)

    assert found is None if why is None else why in str(found)


def test_a_run_that_ended_or_waits_for_a_person_is_left() -> None:
    ended, waits = candidate(), candidate()
    ended.record.ended = RunEnded(status="failed", reason="r")
    waits.record.review_state.request = RecordedRequest(ReviewRequested(request=1, subject="s"))

    assert (hindrance(ended), hindrance(waits)) == ("it has ended", "it waits for a person")


def test_a_run_of_a_server_is_known_by_its_origin() -> None:
    assert candidate(origin="server").is_on_server and not candidate().is_on_server


@pytest.mark.parametrize(("due_at", "now", "left"), [(10.0, 4.0, 6.0), (10.0, 11.0, 0.0), (None, 4.0, 0.0)])
def test_a_run_that_is_paused_for_a_cap_rests_until_it_is_due(due_at: float | None, now: float, left: float) -> None:
    run = candidate()
    run.record.last_kind, run.record.paused = "paused", Paused(reason="cap", due_at=due_at)
    assert due_in_s(run, now) == left

    run.record.last_kind = "executing"
    assert due_in_s(run, now) == 0.0
    assert due_in_s(candidate(), now) == 0.0
