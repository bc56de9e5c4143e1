"""A run that was begun by a process that died before its first checkpoint was kept: the same input goes on with it."""

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command

from planner_executor import build_graph
from planner_executor.graph.checkpoints.saver import strict_serializer
from planner_executor.graph.ledger.drivers import open_ledger
from planner_executor.graph.record.events import Draft
from planner_executor.graph.testing import LoggedTools, ScriptedModel, asked, drafted, on_thread, step

PLAN = {"steps": [step("a", "look", name="x")]}
OTHER = {"steps": [step("b", "look", name="y")]}


def invoked(ledger: Path, model: ScriptedModel, approval: str = "never", **given: Any) -> dict[str, Any]:
    """Return what a process makes of an input that has the ledger and none of the checkpoints of those before it."""
    look = LoggedTools().tool("look", lambda name: name, effect="read")
    app = build_graph(
        model, tools=[look], checkpointer=InMemorySaver(serde=strict_serializer()), ledger=ledger, approval=approval
    )
    return dict(app.invoke({"goal": "g", **given}, on_thread()))


def begun(database: Path, *more: Draft) -> None:
    """Leave a run of which no more is on record than its input, or its plan with it."""

    async def begin() -> None:
        ledger = open_ledger(database)
        await ledger.open_run("thread", [drafted("run_started", {"goal": "g", "constraints": []}), *more])
        await ledger.close()

    asyncio.run(begin())


def test_the_same_input_goes_on_with_it(tmp_path: Path) -> None:
    begun(tmp_path / "runs.db")

    state = invoked(tmp_path / "runs.db", ScriptedModel([PLAN]))

    assert (state["run"]["n"], state["status"], state["answer"]) == (1, "succeeded", "x")


@pytest.mark.parametrize("given", [{"goal": "another"}, {"constraints": ["c"]}])
def test_another_input_begins_a_run_of_its_own(tmp_path: Path, given: dict[str, Any]) -> None:
    begun(tmp_path / "runs.db")

    state = invoked(tmp_path / "runs.db", ScriptedModel([PLAN]), **given)

    assert (state["run"]["n"], state["status"]) == (2, "succeeded")


def test_a_plan_of_the_callers_own_is_not_passed_over(tmp_path: Path) -> None:
    begun(tmp_path / "runs.db")

    state = invoked(tmp_path / "runs.db", ScriptedModel([]), plan=OTHER)

    assert (state["run"]["n"], state["answer"]) == (1, "y")


@pytest.mark.parametrize(("given", "n"), [(PLAN, 1), (json.dumps(PLAN), 1), (OTHER, 2), ({"steps": "none"}, 2)])
def test_a_plan_that_was_recorded_is_gone_on_with_if_the_same_one_comes_again(
    tmp_path: Path, given: Any, n: int
) -> None:
    begun(tmp_path / "runs.db", drafted("plan_revised", {"plan": PLAN, "revision": 1, "author": "caller"}))

    assert invoked(tmp_path / "runs.db", ScriptedModel([]), plan=given)["run"]["n"] == n


@pytest.mark.parametrize("approval", ["always", "never"])
def test_what_was_asked_or_decided_is_inherited_by_nobody(tmp_path: Path, approval: str) -> None:
    invoked(tmp_path / "runs.db", ScriptedModel([PLAN]), approval)

    state = invoked(tmp_path / "runs.db", ScriptedModel([OTHER]), approval)

    assert state["run"]["n"] == 2 and state["plan"]["steps"][0]["id"] == "b"


def test_a_checkpoint_lost_after_the_policy_let_its_plan_pass_is_no_fork(tmp_path: Path, tools: LoggedTools) -> None:
    plan = {"steps": [step("a", "send", to="ann"), {"id": "q", "objective": "o", "ask": "Well?", "depends_on": ["a"]}]}
    database, own = tmp_path / "runs.db", [tools.tool("send", lambda to: to)]

    def invoked_with(given: Any) -> Any:
        with closing(sqlite3.connect(database, check_same_thread=False)) as connection:
            saver = SqliteSaver(connection, serde=strict_serializer())
            app = build_graph(ScriptedModel([plan]), tools=own, checkpointer=saver, approval="never")
            return app.invoke(given, on_thread())

    invoked_with({"goal": "g"})
    with closing(sqlite3.connect(database)) as db, db:
        kept = db.execute("SELECT checkpoint_id FROM checkpoints ORDER BY checkpoint_id LIMIT 2").fetchall()[-1]
        db.execute("DELETE FROM checkpoints WHERE checkpoint_id > ?", kept)
        db.execute("DELETE FROM writes WHERE checkpoint_id > ?", kept)

    waits = invoked_with(None)
    ended = invoked_with(Command(resume={"decisions": [answer("q", "fine")]}))

    assert asked(waits)["run"] == "thread.1" and (ended["run"]["n"], ended["status"]) == (1, "succeeded")
    assert tools.calls == [("send", {"to": "ann"})]


def answer(step_id: str, words: str) -> dict[str, Any]:
    args = {"step": step_id, "answer": words}
    return {"type": "edit", "edited_action": {"name": "answer_question", "args": args}}
