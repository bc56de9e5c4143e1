"""Runs as the ledger tells them, without a graph."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from planner_executor import Agent
from planner_executor.graph.errors import InputError, UnknownRunError
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.record.amendment import Amendment
from planner_executor.graph.record.events import Event
from planner_executor.graph.record.projection import project
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.run_filter import RunFilter
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.runs.run import Run, run_of
from planner_executor.graph.runs.runs import Runs, open_runs
from planner_executor.graph.testing import LoggedTools, ScriptedModel, drafted, step

PLAN = {"steps": [step("a", "look", name="x")], "answer": "{a_result}!"}


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Return a database with a run that has succeeded, `first.1`, and one that waits, `second.1`."""
    look = LoggedTools().tool("look", lambda name: name, effect="read")
    with Agent.open(tmp_path / "runs.db", planner=ScriptedModel([PLAN, PLAN]), tools=[look]) as agent:
        agent.start("g", thread="first")
        agent.resume("first", "approve")
        agent.start("h", thread="second")
    return tmp_path / "runs.db"


@pytest.fixture
def ask(database: Path) -> Callable[[Callable[[Runs], Awaitable[Any]]], Any]:
    async def asked(work: Callable[[Runs], Awaitable[Any]]) -> Any:
        async with open_runs(database) as runs:
            return await work(runs)

    return lambda work: asyncio.run(asked(work))


def test_a_run_is_found_by_its_id_its_thread_and_the_beginning_of_its_thread(ask: Any) -> None:
    assert [ask(lambda runs, name=name: runs.find(name)).thread for name in ("first.1", "first", "fi")] == ["first"] * 3


def test_a_run_that_is_not_there_is_named(ask: Any) -> None:
    with pytest.raises(UnknownRunError, match="third"):
        ask(lambda runs: runs.find("third"))
    with pytest.raises(UnknownRunError):
        ask(lambda runs: runs.latest("fi"))  # a beginning is not the thread


def test_a_run_is_shown_with_its_end_and_its_results(ask: Any) -> None:
    run: Run = ask(lambda runs: runs.show("first"))

    assert (run.status, run.answer, run.goal, run.ended) == ("succeeded", "x!", "g", True)
    assert run.step_status == {"a": "succeeded"}


def test_a_step_that_waits_for_a_failed_one_is_blocked_and_another_is_pending(ask: Any) -> None:
    run: Run = ask(lambda runs: runs.show("first"))
    plan = Plan.model_validate(
        {
            "steps": [
                step("a", "look"),
                step("b", "look", of="{a_result}"),
                step("c", "look", of="{b_result}"),
                step("d", "look"),
            ]
        }
    )

    failed = replace(run, plan=plan, results={"a": StepResult("failed", error="gone")})

    assert failed.step_status == {"a": "failed", "b": "blocked", "c": "blocked", "d": "pending"}


PAID = {"revision": 1, "tool": "pay", "repeatable": False, "effect": "external", "args": {}}


@pytest.mark.parametrize("repeatable", [True, False])
def test_a_call_without_an_outcome_does_not_hide_the_result_that_its_step_has_since(repeatable: bool) -> None:
    told = [
        ("run_started", {}),
        ("plan_revised", {"revision": 1}),
        ("call_started", {**PAID, "key": "first", "repeatable": repeatable}),
        ("plan_revised", {"revision": 2}),
    ]
    ends = [("call_started", {**PAID, "key": "other", "revision": 2}), ("call_finished", {"value": "done"})]

    def status(*events: tuple[str, dict[str, Any]]) -> str:
        steps = {kind: "a" for kind, _ in events if kind.startswith("call")}
        drafts = [drafted(kind, payload, steps.get(kind)) for kind, payload in events]
        return (
            run_of(project([Event.written(seq, 0.0, one) for seq, one in enumerate(drafts, 1)]), False)
            .results["a"]
            .status
        )

    assert status(*told) == ("interrupted" if repeatable else "uncertain")
    assert status(*told, *ends) == "succeeded"


def test_runs_and_revisions_show_as_tables(ask: Any) -> None:
    shown = ask(lambda runs: runs.page(RunFilter()))._repr_mimebundle_()
    log = ask(lambda runs: runs.log("first"))

    assert shown["text/plain"].splitlines()[1].startswith("second.1  waiting    0/1 ")
    assert [one.diff.added for one in log.revisions] == [("a",)]
    assert set(log._repr_mimebundle_()) == {"text/html", "image/svg+xml", "text/plain"}


def test_a_step_that_has_not_begun_is_pending(ask: Any) -> None:
    assert ask(lambda runs: runs.show("second")).step_status == {"a": "pending"}


def test_a_page_has_the_latest_first_and_says_where_the_next_begins(ask: Any) -> None:
    page = ask(lambda runs: runs.page(RunFilter(limit=1)))
    rest = ask(lambda runs: runs.page(RunFilter(limit=1, before=page.next)))

    assert ([run.id for run in page], page.next) == (["second.1"], "second.1")
    assert ([run.id for run in rest], rest.next) == (["first.1"], None)


def test_a_page_of_nothing_is_refused(ask: Any) -> None:
    with pytest.raises(InputError, match="limit must be an integer >= 1, got 0"):
        ask(lambda runs: runs.page(RunFilter(limit=0)))


def test_a_whole_value_is_read_and_one_that_is_not_there_is_named(ask: Any) -> None:
    assert ask(lambda runs: runs.value("first")) == "x!"
    assert ask(lambda runs: runs.value("first", "a")) == "x"
    with pytest.raises(InputError, match="a has no value; it has not succeeded"):
        ask(lambda runs: runs.value("second", "a"))


def test_a_run_that_nobody_works_on_is_cancelled_at_once_and_stays_so(ask: Any) -> None:
    assert ask(lambda runs: runs.cancel("second")).status == "cancelled"
    assert ask(lambda runs: runs.cancel("first")).status == "succeeded"


def test_a_constraint_that_is_added_while_nobody_works_stands_in_the_ledger(ask: Any) -> None:
    assert ask(lambda runs: runs.steer("second", Amendment(add=("be brief",), by="os:ann"))) is False
    assert "be brief" in ask(lambda runs: runs.show("second")).constraints


def test_a_run_that_has_ended_or_lacks_the_constraint_is_not_steered(ask: Any) -> None:
    with pytest.raises(InputError, match="has ended"):
        ask(lambda runs: runs.steer("first", Amendment(add=("x",), by="os:ann")))
    with pytest.raises(InputError, match="no constraint 'y'"):
        ask(lambda runs: runs.steer("second", Amendment(withdraw=("y",), by="os:ann")))


def test_a_run_that_ends_while_it_is_steered_keeps_its_end(ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async def steered(runs: Runs) -> None:
        is_worked_on = runs.ledger.is_worked_on

        async def ended_meanwhile(_: Any, key: RunKey) -> bool:
            monkeypatch.undo()
            await runs.cancel(key.id)
            return await is_worked_on(key)

        monkeypatch.setattr(type(runs.ledger), "is_worked_on", ended_meanwhile)
        await runs.steer("second", Amendment(add=("be brief",), by="os:ann"))

    with pytest.raises(InputError, match="has ended"):
        ask(steered)

    assert "be brief" not in ask(lambda runs: runs.show("second")).constraints
