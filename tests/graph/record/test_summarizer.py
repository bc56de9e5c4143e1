from pathlib import Path
from typing import Any

import pytest

from planner_executor import Agent
from planner_executor.graph.record.deadline import Deadline
from planner_executor.graph.record.events import Event
from planner_executor.graph.record.open_review import OpenReview
from planner_executor.graph.record.projection import project
from planner_executor.graph.record.summarizer import Summarizer
from planner_executor.graph.record.summary import DAMAGED, RunSummary
from planner_executor.graph.testing import LoggedTools, ScriptedModel, step, whole_payload

GOAL = {"thread": "t", "n": 1, "goal": "g", "constraints": [], "tags": ["nightly"]}


def event(seq: int, kind: str, name: str | None = None, **payload: object) -> Event:
    return Event(seq, kind, name, 100.0 + seq, whole_payload(kind, payload))


def test_a_run_is_summarised_event_by_event() -> None:
    plan = {"steps": [{"id": "a"}, {"id": "b"}]}
    started = [event(1, "run_started", **GOAL), event(2, "model_started", key="k", role="planner", model="m")]
    planned = event(3, "model_finished", key="k", usage={"total_tokens": 7}, cost_usd=0.5)
    asked = event(5, "review_requested", asked=["run_plan", "run_step", "run_step"], error=None)
    waiting = Summarizer("t", 1).apply([*started, planned, event(4, "plan_revised", revision=1, plan=plan), asked])

    summary = waiting.summary
    assert (summary.status, summary.waits_for, summary.asks) == ("waiting", "person", ("run_plan", "run_step"))
    assert (summary.waiting_since, summary.started_at, summary.updated_at) == (105.0, 101.0, 105.0)
    assert (summary.tokens, summary.cost_usd, summary.model_calls) == (7, 0.5, 1)
    assert (summary.steps, summary.succeeded, summary.tags) == (2, 0, ("nightly",))

    decided = event(6, "decided", by="person", approver="os:ada", decision="approve", given={"b": "Oslo"}, settled=[])
    call = {"key": "k1", "call": 0, "tool": "look", "args": {}}
    worked = [event(7, "call_started", "a", **call), event(8, "call_finished", "a", call=0, status="succeeded")]
    ended = waiting.apply([decided, *worked, event(9, "run_ended", status="succeeded", reason="2 of 2")]).summary
    assert (ended.status, ended.waits_for, ended.waiting_since, ended.ended_at) == ("succeeded", None, None, 109.0)
    assert (ended.people, ended.succeeded, ended.tool_calls, ended.reason) == (("os:ada",), 2, 1, "2 of 2")


def test_a_row_says_who_started_the_run_and_what_the_open_request_would_do() -> None:
    effects = [{"words": "refund 129.90 EUR", "effect": "external", "undo": False}]
    asked = event(2, "review_requested", asked=["run_plan"], error=None, effects=effects, left_out=2)
    row = Summarizer("t", 1).apply([event(1, "run_started", **GOAL, started_by="os:ada"), asked]).summary

    assert row.started_by == "os:ada" and row.review is not None
    assert [one.to_json() for one in row.review.effects] == effects and row.review.left_out == 2
    assert OpenReview.from_text(row.review.to_text()) == row.review


def test_a_run_that_is_asked_again_has_waited_since_it_was_asked_first() -> None:
    twice = [event(n, "review_requested", asked=["run_plan"], error=None) for n in (2, 3)]

    assert Summarizer("t", 1).apply([event(1, "run_started", **GOAL), *twice]).summary.waiting_since == 102.0


@pytest.mark.parametrize(
    "changed",
    [
        event(3, "step_skipped", "a", approver="os:ada", why=""),
        event(3, "result_supplied", "a", value=1, artifact=None, approver="os:ada"),
    ],
)
def test_a_person_who_changes_what_is_left_closes_what_was_asked(changed: Event) -> None:
    asked = [event(1, "run_started", **GOAL), event(2, "review_requested", asked=["run_plan"], error=None)]

    assert Summarizer("t", 1).apply([*asked, changed]).summary.waits_for is None


def test_a_result_counts_once_its_criteria_are_met() -> None:
    plan = event(2, "plan_revised", revision=1, plan={"steps": [{"id": "a"}]})
    came = event(3, "step_finished", "a", status="succeeded", unchecked=True, revision=1)
    run = Summarizer("t", 1).apply([event(1, "run_started", **GOAL), plan, came])

    assert run.summary.succeeded == 0
    assert run.apply([event(4, "step_checked", "a", met=True, revision=1)]).summary.succeeded == 1
    assert run.apply([event(5, "step_checked", "a", met=False, revision=1)]).summary.succeeded == 0
    assert run.apply([event(6, "step_finished", "a", status="succeeded", revision=1)]).summary.succeeded == 1


def test_a_run_without_events_counts_nothing() -> None:
    assert Summarizer("t", 1).summary == RunSummary("t", 1, 0, "planning")


@pytest.mark.parametrize(
    ("kinds", "status"),
    [
        ((), "planning"),
        (("paused",), "paused"),
        (("paused", "configured"), "paused"),
        (("paused", "executing"), "running"),
    ],
)
def test_the_status_follows_the_last_event_that_is_not_aside(kinds: tuple[str, ...], status: str) -> None:
    events = (event(seq, kind) for seq, kind in enumerate(kinds, 2))

    summary = Summarizer("t", 1).apply([event(1, "run_started", **GOAL), *events]).summary
    assert (summary.status, summary.ended_at) == (status, None)


ASKED_UNTIL = event(2, "review_requested", asked=["run_plan"], deadline=Deadline(1_000.0, 100.0).to_json())


def test_an_open_request_is_named_with_the_time_at_which_something_falls_due() -> None:
    run = Summarizer("t", 1).apply([event(1, "run_started", **GOAL), ASKED_UNTIL])

    assert run.summary.review is not None and run.summary.due_at == run.summary.review.due_at == 1_100.0
    run.apply([event(3, "decided", by="policy", decision="approve")])
    assert (run.summary.review, run.summary.due_at) == (None, None)


def test_a_damaged_run_waits_for_nobody() -> None:
    broken = Event(3, "plan_revised", None, 103.0, {"revision": 1})
    found = Summarizer("t", 1).apply([event(1, "run_started", **GOAL), ASKED_UNTIL, broken]).summary

    assert (found.status, found.waits_for, found.asks, found.waiting_since) == (DAMAGED, None, (), None)
    assert (found.review, found.due_at) == (None, None)


def test_a_goal_is_cut_and_so_many_people_are_named_who_decided_or_asked_for_more() -> None:
    people = [event(n, "steered", approver=f"os:{n}") for n in range(2, 23)]
    found = Summarizer("t", 1).apply([event(1, "run_started", **{**GOAL, "goal": "x" * 301}), *people]).summary

    assert found.goal == "x" * 300
    assert found.people == tuple(f"os:{n}" for n in range(2, 22))


def test_a_call_of_a_model_that_failed_has_no_tokens() -> None:
    failed = event(2, "model_finished", key="k", usage=None, cost_usd=None)

    summary = Summarizer("t", 1).apply([event(1, "run_started", **GOAL), failed]).summary
    assert (summary.tokens, summary.status) == (0, "running")


@pytest.mark.parametrize(
    ("call", "settled", "succeeded"),
    [
        ({"call": 0}, {"key": "k", "happened": True}, 1),
        ({"call": 0}, {"key": "k", "happened": False}, 0),
        ({"call": 0}, {"key": "of another run", "happened": True}, 0),
        ({"call": 1}, {"key": "k", "happened": True}, 0),
        ({"call": 0, "item": 0}, {"key": "k", "happened": True}, 0),
    ],
    ids=["it happened", "it did not", "a call of another run", "a call of a model's step", "a call of an item"],
)
def test_a_step_succeeds_if_its_own_call_is_settled_as_one_that_happened(
    call: dict[str, Any], settled: dict[str, Any], succeeded: int
) -> None:
    plan = event(2, "plan_revised", revision=1, plan={"steps": [{"id": "a", "tool": "pay"}]})
    started = event(3, "call_started", "a", key="k", tool="pay", args={}, **call)
    decided = event(4, "decided", by="person", decision="settle", settled=[settled])

    run = Summarizer("t", 1).apply([event(1, "run_started", **GOAL), plan, started, decided])
    assert run.summary.succeeded == succeeded


def test_a_run_with_an_event_that_cannot_be_read_is_damaged() -> None:
    run = Summarizer("t", 1).apply(
        [event(1, "run_started", **GOAL), Event(2, "plan_revised", None, 102.0, {"revision": 1})]
    )

    assert run.summary.status == DAMAGED and run.summary.goal == "g"


@pytest.mark.parametrize("outcome", ["approve", "reject", "make it shorter"])
def test_the_summary_agrees_with_what_the_nodes_read(outcome: str, tmp_path: Path, tools: LoggedTools) -> None:
    look, broken = tools.tool("look", lambda: "seen", effect="read"), tools.tool("broken", _fails, effect="read")
    plan = {"steps": [step("a", "look"), step("b", "broken"), step("c", "look", after=["b"])], "answer": "{a_result}"}
    planner = ScriptedModel([plan, {"keep": ["c"], "steps": [step("b", "look")]}, plan, plan])
    with Agent.open(tmp_path / "runs.db", planner=planner, tools=[look, broken]) as agent:
        run = agent.resume(agent.start("g", thread="t").id, outcome)
        run = agent.resume(run.id, "approve") if not run.ended else run
        (listed,) = agent.list()
        record = project(agent.log(run.id).events)

    assert listed.status == run.status == record.status
    assert listed.succeeded == len(record.steps.succeeded) and listed.revision == record.plan_state.revision
    assert (listed.tool_calls, listed.model_calls) == (
        record.spending.usage.tool_calls,
        record.spending.usage.model_calls,
    )
    assert (listed.started_at, listed.updated_at, listed.seq) == (record.started_at, record.updated_at, record.seq)


def _fails() -> None:
    raise ValueError("broken")


def test_an_event_of_a_newer_release_counts_and_a_long_name_is_cut() -> None:
    events = [event(1, "run_started", **GOAL, started_by=f"os:{'a' * 300}"), Event(2, "dreamt", None, 102.0, {})]

    row = Summarizer("t", 1).apply(events).summary

    assert (row.seq, len(row.started_by)) == (2, 200)


def test_an_event_that_was_changed_by_hand_counts_and_marks_the_row() -> None:
    damaged = Event(2, "plan_revised", None, 102.0, {"plan": 5})

    row = Summarizer("t", 1).apply([event(1, "run_started", **GOAL), damaged]).summary

    assert (row.seq, row.status) == (2, DAMAGED)
