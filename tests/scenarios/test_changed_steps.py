"""People change what is left of a run that stands still: skip a step, give its result, edit the plan."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from planner_executor import Agent, AsyncAgent, build_graph
from planner_executor.graph.builder.graph_builder import Graph
from planner_executor.graph.checkpoints.checkpoint import ledger_of
from planner_executor.graph.errors import InputError, NothingToDecideError, StaleRunError
from planner_executor.graph.nodes.review.step_changes import change_in_words
from planner_executor.graph.record.events import Event
from planner_executor.graph.record.person import Approver
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.runs.run import Run
from planner_executor.graph.runs.runs import open_runs
from planner_executor.graph.runs.step_changes import supply_result
from planner_executor.graph.testing import LoggedTools, ScriptedModel, asked, drafted, on_thread, step

PLAN: dict[str, Any] = {
    "steps": [
        step("look", "look", at="x"),
        step("mail", "mail", to="{look_result}", after=["look"]),
        step("note", "note", text="{mail_result}"),
        step("other", "note", text="apart"),
    ]
}
ADA = Approver("ada", "os")
NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


@pytest.fixture
def options(tools: LoggedTools) -> dict[str, Any]:
    return {
        "planner": ScriptedModel([]),
        "tools": [
            tools.tool("look", lambda at: at, effect="read"),
            tools.tool("mail", lambda to: f"sent to {to}", effect="external"),
            tools.tool("note", lambda text: text, effect="write"),
        ],
        "replan": "never",
    }


@pytest.fixture
def agent(tmp_path: Path, options: dict[str, Any]) -> Any:
    with Agent.open(tmp_path / "runs.db", **options) as agent:
        yield agent


@pytest.fixture
def waiting(agent: Agent) -> Run:
    return agent.start("g", plan=PLAN)


def only_run(agent: Agent, run: Run) -> None:
    assert [found.id for found in agent.list()] == [run.id]
    assert agent.replay(run.id).is_same, str(agent.replay(run.id))


def test_a_skipped_step_and_those_that_need_it_are_left_out(agent: Agent, waiting: Run, tools: LoggedTools) -> None:
    agent.skip(waiting.id, "mail", "written by hand")
    again = agent.resume(waiting.id)
    assert again.request is not None and "skipped" in again.request["action_requests"][0]["description"]
    ended = agent.resume(waiting.id, "approve")

    assert (ended.status, ended.answer) == ("succeeded", {"look": "x", "other": "apart"})
    assert ended.step_status == {"look": "succeeded", "mail": "skipped", "note": "skipped", "other": "succeeded"}
    assert "written by hand" in ended.reason and "note (needs mail, which was skipped)" in ended.reason
    assert sorted(name for name, _ in tools.calls) == ["look", "note"]
    only_run(agent, waiting)


def test_a_supplied_result_is_used_and_the_step_is_not_executed(agent: Agent, waiting: Run, tools: LoggedTools) -> None:
    agent.supply(waiting.id, "look", "ada")
    again = agent.resume(waiting.id)
    assert again.request is not None
    assert "look is not executed: os:" in (said := again.request["action_requests"][0]["description"])
    assert 'gave its result, "ada".' in said
    ended = agent.resume(waiting.id, "approve")

    assert ended.status == "succeeded" and ended.results["note"].value == "sent to ada"
    assert [name for name, _ in tools.calls].count("look") == 0
    only_run(agent, waiting)


@pytest.mark.parametrize("before", ["skipped", "failed"])
def test_a_supplied_result_counts_whatever_became_of_the_steps_before_it(agent: Agent, before: str) -> None:
    fails = {**step("look", "look", at="x"), "checks": [{"matches": "never said"}]}
    run = agent.start("g", plan={"steps": [fails, *PLAN["steps"][1:]], "answer": "{mail_result}"})
    if before == "skipped":
        agent.skip(run.id, "look")
    agent.supply(run.id, "mail", "by hand")
    agent.resume(run.id)
    ended = agent.resume(run.id, "approve")

    assert (ended.answer, ended.results["mail"].value) == ("by hand", "by hand")
    assert ended.step_status["look"] == before and ended.step_status["mail"] == "succeeded"
    only_run(agent, run)


@pytest.mark.parametrize(
    ("skipped", "answer"),
    [
        ("mail", {"each": ["a", "b"], "mailed": None, "text": "sent: null"}),
        ("each", {"each": None, "mailed": "sent to x", "text": "sent: sent to x"}),
    ],
)
def test_an_answer_keeps_what_each_item_gave_beside_a_step_that_was_skipped(
    agent: Agent, tools: LoggedTools, skipped: str, answer: dict[str, Any]
) -> None:
    each = {**step("each", "note", text="{item_result}"), "for_each": ["a", "b"]}
    parts = {"each": "{each_result}", "mailed": "{mail_result}", "text": "sent: {mail_result}"}
    run = agent.start("g", plan={"steps": [each, step("mail", "mail", to="x")], "answer": parts})

    agent.skip(run.id, skipped)
    agent.resume(run.id)
    ended = agent.resume(run.id, "approve")

    assert (ended.status, ended.answer) == ("partial", answer)
    assert len(tools.named("note")) == (0 if skipped == "each" else 2)
    assert agent.replay(run.id).is_same


def test_a_supplied_result_opens_no_gate_before_its_step(agent: Agent, tools: LoggedTools) -> None:
    gate = {"id": "gate", "objective": "o", "gate": "Go on?"}
    steps = [gate, step("look", "look", at="x", after=["gate"]), step("mail", "mail", to="{look_result}")]
    run = agent.start("g", plan={"steps": steps})
    agent.supply(run.id, "look", "ada")
    agent.resume(run.id)
    agent.resume(run.id, {"decisions": [{"type": "approve"}, {"type": "reject", "message": "not now"}]})

    assert tools.calls == []
    again = agent.show(run.id)
    assert agent.resume(run.id, again.decide(approve=True)).status == "succeeded"
    assert tools.calls == [("mail", {"to": "ada"})]
    only_run(agent, run)


def test_each_supplied_result_brings_the_plan_up_again(agent: Agent, waiting: Run) -> None:
    agent.supply(waiting.id, "look", "ada")
    agent.resume(waiting.id)
    agent.supply(waiting.id, "mail", "by hand")
    agent.resume(waiting.id)

    assert agent.resume(waiting.id, "approve").status == "succeeded"
    only_run(agent, waiting)


def test_a_supplied_result_has_to_meet_the_checks_of_its_step(agent: Agent, tools: LoggedTools) -> None:
    checked = {**step("look", "look", at="x"), "checks": [{"condition": "n >= `3`"}]}
    run = agent.start("g", plan={"steps": [checked]})
    agent.supply(run.id, "look", {"n": 1})
    agent.resume(run.id)
    ended = agent.resume(run.id, "approve")

    assert ended.status == "failed" and tools.calls == []
    only_run(agent, run)


def test_a_supplied_result_has_to_fit_the_output_of_its_step(agent: Agent) -> None:
    asked = {"id": "think", "objective": "o", "tools": [], "output": NUMBER}
    run = agent.start("g", plan={"steps": [asked]})

    with pytest.raises(InputError, match="the result of think does not match its schema"):
        agent.supply(run.id, "think", {"n": "three"})
    agent.supply(run.id, "think", {"n": 3})
    agent.resume(run.id)
    assert agent.resume(run.id, "approve").answer == {"n": 3}
    only_run(agent, run)


def test_a_gate_is_not_passed_by_a_supplied_result(agent: Agent) -> None:
    gate = {"id": "gate", "objective": "o", "gate": "Go on?"}
    run = agent.start("g", plan={"steps": [gate, step("mail", "mail", to="ada", after=["gate"])]})

    with pytest.raises(InputError, match="gate is a gate, which only a decision in its review passes"):
        agent.supply(run.id, "gate", "passed")


def test_a_skipped_gate_skips_what_it_guards(agent: Agent, tools: LoggedTools) -> None:
    gate = {"id": "gate", "objective": "o", "gate": "Go on?"}
    run = agent.start("g", plan={"steps": [gate, step("mail", "mail", to="ada", after=["gate"])]})
    agent.skip(run.id, "gate")
    agent.resume(run.id)
    ended = agent.resume(run.id, "approve")

    assert ended.step_status == {"gate": "skipped", "mail": "skipped"} and tools.calls == []
    assert ended.status == "partial"
    only_run(agent, run)


@pytest.mark.parametrize(
    ("name", "words"),
    [("nowhere", "has no step 'nowhere'; there are look"), ("mail", "mail is skipped already")],
)
def test_a_step_that_cannot_be_skipped_is_refused(agent: Agent, waiting: Run, name: str, words: str) -> None:
    agent.skip(waiting.id, "mail")
    with pytest.raises(InputError, match=words):
        agent.skip(waiting.id, name)


def test_a_step_that_succeeded_cannot_change(agent: Agent) -> None:
    gate = {"id": "gate", "objective": "o", "gate": "Go on?", "depends_on": ["look"]}
    run = agent.start("g", plan={"steps": [step("look", "look", at="x"), gate]})
    agent.resume(run.id, "approve")

    with pytest.raises(InputError, match="look succeeded and cannot change"):
        agent.skip(run.id, "look")
    with pytest.raises(InputError, match="look succeeded and cannot change"):
        agent.supply(run.id, "look", 1)


def test_an_ended_run_names_the_next_move(agent: Agent, waiting: Run) -> None:
    agent.cancel(waiting.id)
    with pytest.raises(InputError, match="has ended; retry it, or start a new run"):
        agent.skip(waiting.id, "mail")


def test_an_edited_plan_is_reviewed_wherever_the_run_stands_still(
    agent: Agent, waiting: Run, tools: LoggedTools
) -> None:
    other = {"steps": [step("mail", "mail", to="bo")]}
    again = agent.edit(waiting.id, other)
    assert again.request is not None and again.revision == 2
    ended = agent.resume(waiting.id, "approve")

    assert ended.status == "succeeded" and tools.calls == [("mail", {"to": "bo"})]
    only_run(agent, waiting)


@pytest.mark.parametrize("last", ["run_started", "plan_revised", "review_requested", "decided"])
async def test_an_edit_is_of_the_same_run_though_its_process_ended_before_the_checkpoint_of_an_event(
    tmp_path: Path, options: dict[str, Any], last: str
) -> None:
    planner = ScriptedModel([PLAN, PLAN])
    driven: list[asyncio.Task[Run]] = []

    def end(_: Any, events: Sequence[Event]) -> None:
        if any(event.kind == last for event in events):
            driven[-1].cancel()

    async with AsyncAgent.open(tmp_path / "runs.db", **{**options, "planner": planner}, observers=[end]) as agent:
        driven.append(asyncio.create_task(agent.start("g", thread="t")))
        with suppress(asyncio.CancelledError):
            approval = (await driven[-1]).decide(approve=True)
            driven.append(asyncio.create_task(agent.resume("t", approval)))
            await driven[-1]
        assert driven[-1].cancelled()
        driven.append(asyncio.create_task(asyncio.sleep(0)))
        run = await agent.edit("t", {"steps": [step("mail", "mail", to="bo")]})
        assert run.request is not None and run.request["action_requests"][0]["name"] == "run_plan"
        ended = await agent.resume("t", "approve")
        ended, runs, played = (ended, [one.id for one in await agent.list()], await agent.replay("t"))
    assert (ended.answer, runs) == ("sent to bo", ["t.1"]) and played.is_same, str(played)


def test_an_approval_given_before_a_step_was_skipped_does_not_count(
    agent: Agent, waiting: Run, tools: LoggedTools
) -> None:
    decision = waiting.decide(approve=True)
    agent.skip(waiting.id, "mail")
    with pytest.raises(NothingToDecideError):
        agent.resume(waiting.id, decision)

    assert agent.resume(waiting.id).status == "waiting" and tools.calls == []
    assert agent.resume(waiting.id, "approve").status == "succeeded"
    only_run(agent, waiting)


@pytest.fixture
def graph(saver: InMemorySaver, options: dict[str, Any]) -> Graph:
    return build_graph(options.pop("planner"), checkpointer=saver, **options)


def said(words: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": words}]}


def runs_of(saver: InMemorySaver) -> list[RunKey]:
    async def read() -> list[RunKey]:
        return await (await ledger_of(None, saver, lambda _: None)()).runs()

    return asyncio.run(read())


BY_CHAT = [
    ("skip mail", {"mail": "skipped", "note": "skipped"}),
    ("Skip mail : written by hand", {"mail": "skipped", "note": "skipped"}),
    ('supply mail = {"to": "bo"}', {"mail": "succeeded", "note": "succeeded"}),
    ("supply mail = by hand", {"mail": "succeeded", "note": "succeeded"}),
]


@pytest.mark.parametrize(("words", "statuses"), BY_CHAT, ids=[words for words, _ in BY_CHAT])
def test_a_chat_skips_and_supplies(
    graph: Graph, saver: InMemorySaver, tools: LoggedTools, words: str, statuses: dict[str, str]
) -> None:
    graph.invoke({"goal": "g", "plan": PLAN}, on_thread())
    again = asked(graph.invoke(said(words), on_thread()))
    assert [action["name"] for action in again["action_requests"]] == ["run_plan"]
    state = graph.invoke(Command(resume="approve"), on_thread())

    assert {name: state["results"][name]["status"] for name in statuses} == statuses
    assert state["status"] == "succeeded" and tools.named("mail") == []
    assert runs_of(saver) == [RunKey("thread", 1)]


SOUND = {"type": "audio", "base64": "AAAA", "mime_type": "audio/wav"}
REFUSED = [
    ("skip nowhere", "has no step 'nowhere'; there are look, mail"),
    ("supply nowhere = 1", "has no step 'nowhere'; there are look, mail"),
    ("Steer:", "say what to add"),
    ("", "give a goal"),
    ([{"type": "text", "text": "another goal"}, SOUND], "goal: "),
]


@pytest.mark.parametrize(("words", "why"), REFUSED, ids=[str(words)[:20] for words, _ in REFUSED])
def test_words_of_a_chat_that_are_refused_leave_the_open_request_in_sight(
    graph: Graph, saver: InMemorySaver, tools: LoggedTools, words: Any, why: str
) -> None:
    before = asked(graph.invoke({"goal": "g", "plan": PLAN}, on_thread()))

    state = graph.invoke(said(words), on_thread())

    refusal, last = (str(message.text) for message in state["messages"][-2:])
    assert refusal.startswith("Nothing has changed: ") and why in refusal
    assert "Your decision is needed." in last and asked(state)["digest"] == before["digest"]
    assert graph.invoke(Command(resume="approve"), on_thread())["status"] == "succeeded" and tools.named("mail")
    assert runs_of(saver) == [RunKey("thread", 1)]


def test_words_of_a_chat_that_are_refused_while_nothing_is_open_are_an_error(graph: Graph) -> None:
    for words, why in (("Steer:", "say what to add"), ("", "give a goal")):
        with pytest.raises(InputError, match=why):
            graph.invoke(said(words), on_thread())


@pytest.mark.parametrize(
    "words", ["skip the mail and write to bo", "skip", "supply mail", "please skip mail", "skip 2", "supply = 1"]
)
def test_other_words_are_a_goal(words: str) -> None:
    assert change_in_words({"messages": [HumanMessage(words)]}) is None


def test_a_state_that_is_written_skips_and_supplies(graph: Graph, saver: InMemorySaver, tools: LoggedTools) -> None:
    graph.invoke({"goal": "g", "plan": PLAN}, on_thread())
    graph.update_state(on_thread(), {"changes": {"skip": {"other": "not now"}, "supply": {"look": "ada"}}})
    graph.invoke(None, on_thread())
    state = graph.invoke(Command(resume="approve"), on_thread())

    assert {name: result["status"] for name, result in state["results"].items()} == {
        "look": "succeeded", "mail": "succeeded", "note": "succeeded", "other": "skipped",
    }  # fmt: skip
    assert tools.named("mail") == [{"to": "ada"}] and tools.named("look") == []
    assert runs_of(saver) == [RunKey("thread", 1)]


AT = {"type": "object", "properties": {"at": {"type": "string"}}}
READS = {"effect": "read"}


@pytest.mark.parametrize("way", ["state", "chat"])
def test_a_paused_run_goes_on_without_the_step(
    saver: InMemorySaver, options: dict[str, Any], tools: LoggedTools, way: str
) -> None:
    begun = asyncio.Event()

    async def hang(at: str) -> None:
        begun.set()
        await asyncio.Event().wait()

    async def interrupt(graph: Graph) -> None:
        work = asyncio.create_task(graph.ainvoke(Command(resume="approve"), on_thread()))
        await begun.wait()
        work.cancel()
        with suppress(asyncio.CancelledError):
            await work

    def built(look: Any) -> Graph:
        return build_graph(**{**options, "tools": [look, *options["tools"][1:]]}, checkpointer=saver)

    graph = built(StructuredTool(name="look", description="o", coroutine=hang, args_schema=AT, metadata=READS))
    graph.invoke({"goal": "g", "plan": {"steps": PLAN["steps"][:3]}}, on_thread())
    asyncio.run(interrupt(graph))
    graph = built(StructuredTool(name="look", description="o", func=lambda at: at, args_schema=AT, metadata=READS))
    if way == "state":
        graph.update_state(on_thread(), {"changes": {"skip": {"mail": ""}}})
    state = graph.invoke(None if way == "state" else said("skip mail"), on_thread())

    assert (state["status"], state["results"]["mail"]["status"]) == ("succeeded", "skipped")
    assert tools.named("mail") == [] and runs_of(saver) == [RunKey("thread", 1)]


@pytest.mark.parametrize(
    "changes", [{"skip": ["mail"]}, {"skip": {"mail": 1}}, {"drop": {"mail": ""}}, "skip mail", {"supply": [1]}]
)
def test_changes_of_another_shape_are_refused(graph: Graph, saver: InMemorySaver, changes: Any) -> None:
    graph.invoke({"goal": "g", "plan": PLAN}, on_thread())
    graph.update_state(on_thread(), {"changes": changes})
    with pytest.raises(InputError, match="changes"):
        graph.invoke(None, on_thread())
    graph.update_state(on_thread(), {"changes": {"skip": {"mail": ""}}})

    asked(graph.invoke(None, on_thread()))
    assert runs_of(saver) == [RunKey("thread", 1)]


class Overtaken:
    """A ledger in which the request is decided between the reading of a run and the next event of its reader."""

    def __init__(self, ledger: Any) -> None:
        self._ledger = ledger

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger, name)

    async def append(self, lease: Any, drafts: Any, **more: Any) -> int:
        await self._ledger.append(lease, [drafted("decided", {"request": 1, "decision": "approve", "by": "person"})])
        return int(await self._ledger.append(lease, drafts, **more))


async def test_a_result_is_not_supplied_over_a_decision_that_was_not_read(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    with Agent.open(tmp_path / "runs.db", **options) as agent:
        run = agent.start("g", plan=PLAN)

    async with open_runs(tmp_path / "runs.db") as runs:
        with pytest.raises(StaleRunError):
            await supply_result(replace(runs, ledger=Overtaken(runs.ledger)), run.id, "look", 1, ADA)
        kinds = [event.kind for event in await runs.ledger.events(RunKey(run.thread, run.n))]
    assert kinds[-1] == "decided" and "step_supplied" not in kinds
