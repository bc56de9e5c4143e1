"""A small run is cheap: what is constant for a graph is worked out once and stored once."""

import asyncio
import gc
import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any
from weakref import ReferenceType, ref

import pytest
from langchain_core.tools import BaseTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from benchmarks.small_run import MOST_KB, growth_kb
from planner_executor import Agent, AsyncAgent, build_graph
from planner_executor.graph.calls.toolbox import Toolbox
from planner_executor.graph.ledger.sqlite.database import Database
from planner_executor.graph.ledger.sqlite.ledger import SqliteLedger
from planner_executor.graph.nodes.review import message, request
from planner_executor.graph.nodes.review.request import request_about
from planner_executor.graph.nodes.run.terms import compared
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.record.assignment import Assignment
from planner_executor.graph.record.events.run import Configuration
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.review.request import ReviewRequest
from planner_executor.graph.runs.runs import Runs
from planner_executor.graph.testing import LoggedTools, ScriptedModel, drafted, on_thread, step

FIRST_VERSION = Path(__file__).parent / "first_version.jsonl"
"""A run as commit 1a8e0ba exported it: settings, tools and prompts stand in its events."""
PLAN = {"steps": [step("a", "look", q="x")]}


def own_tools() -> list[BaseTool]:
    return [LoggedTools().tool(name, lambda q: q, effect="read") for name in ("look", "search", "read", "list")]


def rows(database: Path, query: str) -> list[Any]:
    with closing(sqlite3.connect(database)) as db:
        return db.execute(query).fetchall()


async def test_a_run_of_one_step_takes_ten_kilobytes_at_most(tmp_path: Path) -> None:
    assert await growth_kb(tmp_path / "runs.db", 20) <= MOST_KB


def test_what_runs_have_in_common_is_stored_once(tmp_path: Path) -> None:
    with Agent(tmp_path / "runs.db", planner=ScriptedModel([PLAN] * 3), tools=own_tools()) as agent:
        stored = []
        for number in range(3):
            agent.resume(agent.start(f"goal {number}", thread=str(number)).id, "approve")
            stored.append(rows(tmp_path / "runs.db", "SELECT count(*) FROM ledger_artifacts"))

    assert stored[0] == stored[1] == stored[2]
    told = rows(
        tmp_path / "runs.db", "SELECT payload FROM ledger_events WHERE kind IN ('run_started', 'model_started')"
    )
    assert all("look, for tests" not in payload and "You plan how to" not in payload for (payload,) in told)


class CountingDatabase(Database):
    """A database that counts what it is asked for, and the statements that it executes, those of transactions too."""

    asked = statements = 0

    async def do(self, do: Any, thread: str | None = None, **how: Any) -> Any:
        self.asked += 1

        def traced(tx: Any) -> Any:
            tx.set_trace_callback(self.count)
            return do(tx)

        return await super().do(traced, thread, **how)

    def count(self, _: str) -> None:
        """Count a statement."""
        self.statements += 1


def test_a_run_of_one_step_asks_the_ledger_sixteen_times_with_so_many_statements(tmp_path: Path) -> None:
    ledger = SqliteLedger(tmp_path / "runs.db")
    ledger._file = counting = CountingDatabase(ledger.name, list, 60.0)
    graph = build_graph(ScriptedModel([PLAN] * 2), tools=own_tools(), checkpointer=InMemorySaver(), ledger=ledger)
    for name in ("before", "counted"):
        counting.asked = counting.statements = 0
        graph.invoke({"goal": "g"}, on_thread(name))
        graph.invoke(Command(resume="approve"), on_thread(name))

    assert (counting.asked, counting.statements) == (16, 121)


@pytest.mark.parametrize(("answers", "made_at"), [(["approve"], [4, 5]), (["", "approve"], [4, 5, 6, 7])])
def test_a_request_is_made_when_it_is_announced_and_when_it_is_answered(
    monkeypatch: pytest.MonkeyPatch, answers: list[str], made_at: list[int]
) -> None:
    made: list[int] = []

    def noted(run: Any, subject: Any) -> Any:
        made.append(run.record.seq)
        return request_about(run, subject)

    for module in (message, request):
        monkeypatch.setattr(module, "request_about", noted)
    graph = build_graph(ScriptedModel([PLAN]), tools=own_tools(), checkpointer=InMemorySaver())
    graph.invoke({"goal": "g"}, on_thread("t"))
    for answer in answers:
        state = graph.invoke(Command(resume=answer), on_thread("t"))

    assert (state["status"], made) == ("succeeded", made_at)


def test_what_happens_between_the_announcement_of_a_request_and_the_review_is_in_it(tmp_path: Path) -> None:
    ledger = SqliteLedger(tmp_path / "runs.db")
    graph = build_graph(ScriptedModel([PLAN]), tools=own_tools(), checkpointer=InMemorySaver(), ledger=ledger)
    graph.invoke({"goal": "g"}, on_thread("t"), interrupt_before=["review"])
    skipped = drafted("step_skipped", {"approver": "ann"}, "a")
    asyncio.run(ledger.write(RunKey("t", 1), [skipped], after=0))
    asked = graph.invoke(None, on_thread("t"))["__interrupt__"][0].value

    assert "1 skipped" in asked["action_requests"][0]["description"]


def test_a_request_is_gone_once_it_is_asked_before_any_collection_of_garbage(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[ReferenceType[ReviewRequest]] = []

    def noted(run: Any, subject: Any) -> ReviewRequest:
        found = request_about(run, subject)
        made.append(ref(found))
        return found

    monkeypatch.setattr(message, "request_about", noted)
    graph = build_graph(ScriptedModel([PLAN]), tools=own_tools(), checkpointer=InMemorySaver())
    gc.disable()
    try:
        graph.invoke({"goal": "g"}, on_thread("t"))
        assert [one() for one in made] == [None]
    finally:
        gc.enable()


class CountingSaver(InMemorySaver):
    """Counts the checkpoints that are read."""

    read = 0

    async def aget_tuple(self, config: Any) -> Any:
        """See `BaseCheckpointSaver`."""
        self.read += 1
        return await super().aget_tuple(config)


class BindingModel(ScriptedModel):
    """A model that counts how often it is bound to a schema, which it cannot be."""

    bindings: int = 0

    def with_structured_output(self, *_: Any, **__: Any) -> Any:
        """Count."""
        self.bindings += 1
        raise NotImplementedError


async def test_a_facade_asks_the_ledger_three_times_more_and_no_model_is_bound_twice(tmp_path: Path) -> None:
    ledger, model = SqliteLedger(tmp_path / "runs.db"), BindingModel([PLAN] * 2)
    ledger._file = counting = CountingDatabase(ledger.name, list, 60.0)
    graph = build_graph(model, tools=own_tools(), checkpointer=InMemorySaver(), ledger=ledger)
    agent = AsyncAgent.over(graph, Runs(ledger))
    for name in ("before", "counted"):
        counting.asked = 0
        asked = await agent.start("g", thread=name)
        counted = counting.asked
        assert asked.request is not None and asked.request == (await agent.show(name)).request
        counting.asked = 0
        assert (await agent.resume(asked.id, "approve")).answer == "x"

    assert (counted + counting.asked, model.bindings) == (19, 1)


async def test_a_facade_reads_no_checkpoint_to_tell_what_a_run_asks_and_gives_each_reader_a_copy(
    tmp_path: Path,
) -> None:
    saver, ledger = CountingSaver(), SqliteLedger(tmp_path / "runs.db")
    graph = build_graph(ScriptedModel([PLAN]), tools=own_tools(), checkpointer=saver, ledger=ledger)
    agent = AsyncAgent.over(graph, Runs(ledger))
    run = await agent.start("g", thread="t")
    saver.read = 0
    request = (await agent.show(run.id)).request
    assert saver.read == 0 and request == run.request
    dict(request or {})["action_requests"][0]["args"]["plan"]["steps"] = []
    assert (await agent.show(run.id)).request == run.request
    await graph.aupdate_state(on_thread("t"), {"plan": {"steps": []}}, as_node="planner")
    assert (await agent.show(run.id)).request is None


def test_terms_that_differ_are_read_once_however_many_nodes_there_are(tmp_path: Path) -> None:
    asked: list[int] = []
    for tools in (own_tools(), own_tools()[1:]):
        ledger, saver = SqliteLedger(tmp_path / f"{len(tools)}.db"), InMemorySaver()
        ledger._file = counting = CountingDatabase(ledger.name, list, 60.0)
        plan = {"steps": [step("a", "search", q="x")]}
        first, then = (
            build_graph(ScriptedModel([plan]), tools=given, checkpointer=saver, ledger=ledger)
            for given in (tools, own_tools())
        )
        first.invoke({"goal": "g"}, on_thread("t"))
        counting.asked = 0
        then.invoke(Command(resume="approve"), on_thread("t"))
        asked.append(counting.asked)

    assert asked[1] - asked[0] <= 1


class Counted(Mapping[str, ToolSpec]):
    """Specs of tools that count how often they are looked through."""

    def __init__(self, specs: Mapping[str, ToolSpec]) -> None:
        self._specs, self.looked_through = specs, 0

    def __getitem__(self, name: str) -> ToolSpec:
        return self._specs[name]

    def __iter__(self) -> Iterator[str]:
        self.looked_through += 1
        return iter(self._specs)

    def __len__(self) -> int:
        return len(self._specs)


def test_the_tools_are_described_once_per_graph() -> None:
    toolbox = Toolbox(own_tools())
    toolbox.specs = counted = Counted(toolbox.specs)

    assert toolbox.kept is toolbox.kept
    assert counted.looked_through == 1


def test_an_exported_run_holds_all_that_its_replay_and_its_story_need(tmp_path: Path) -> None:
    with Agent(tmp_path / "runs.db", planner=ScriptedModel([PLAN]), tools=own_tools()) as agent:
        run = agent.resume(agent.start("g").id, "approve")
        agent.export(run.id, tmp_path / "run.jsonl")
        told = str(agent.audit(run.id))

    with Agent(tmp_path / "another.db") as elsewhere:
        assert elsewhere.replay(tmp_path / "run.jsonl").is_same
        assert elsewhere.verify(tmp_path / "run.jsonl").faults == ()
    assert "list (read)" in told and "A plan is one JSON object" in told


def test_a_prompt_that_is_redacted_is_so_for_the_run_alone(tmp_path: Path) -> None:
    with Agent(tmp_path / "runs.db", planner=ScriptedModel([PLAN] * 2), tools=own_tools()) as agent:
        runs = [agent.resume(agent.start("g", thread=name).id, "approve") for name in ("one", "other")]
        agent.redact(runs[0].id, "A plan is one JSON object", reason="r")
        told = [str(agent.audit(run.id)) for run in runs]
        assert all(agent.verify(run.id).faults == () for run in runs)

    assert ["A plan is one JSON object" in text for text in told] == [False, True]


def test_a_value_is_taken_out_of_packed_checkpoints(tmp_path: Path) -> None:
    secret = "hunter2-secret"
    plan = {"steps": [step("a", "look", q=secret * 20)]}
    with Agent(tmp_path / "runs.db", planner=ScriptedModel([plan]), tools=own_tools()) as agent:
        run = agent.resume(agent.start("g").id, "approve")
        assert agent.redact(run.id, secret, reason="r").remaining == ()
        assert secret not in str(agent.audit(run.id))
        state = agent.wait_for(lambda _: agent._agent.graph.aget_state({"configurable": {"thread_id": run.thread}}))

    assert "redacted" in str(state.values["plan"]) and secret not in str(state)


def test_a_run_of_the_first_version_is_read_verified_and_replayed(tmp_path: Path) -> None:
    with Agent(tmp_path / "runs.db") as agent:
        assert agent.verify(FIRST_VERSION).faults == ()
        assert agent.replay(FIRST_VERSION).is_same


def test_the_configuration_of_a_run_of_the_first_version_is_known_to_be_the_same(tmp_path: Path) -> None:
    """Only what has changed is told when a run goes on, and where it is kept is no such change."""
    lines = [json.loads(line) for line in FIRST_VERSION.read_text().splitlines()]
    started = next(json.loads(line["payload"]) for line in lines if line.get("kind") == "run_started")
    tool = LoggedTools().tool("look", lambda q: q, effect="read")
    models = {"planner": ScriptedModel([]), "executor": ScriptedModel([])}
    with Agent(tmp_path / "runs.db", tools=[tool], max_repairs=1, **models) as agent:
        session = agent.wait_for(lambda given: given._open.get())

        def differs(**change: Any) -> str:
            known = Assignment(configuration=Configuration.from_json({**started["configured"], **change}))
            services, ledger = session.graph.services, session.runs.ledger
            found = agent.wait_for(lambda _: compared(services, ledger, known))
            return found.other or found.sentence

        assert differs() == ""
        assert differs(tools={"value": []}).endswith("begun without look")
