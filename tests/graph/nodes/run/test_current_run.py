"""Which run a state belongs to, and how the thread's next one begins."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_config
from langgraph.graph import START, StateGraph
from langgraph.runtime import get_runtime
from run_in_memory import services
from typing_extensions import TypedDict

from planner_executor.graph.caller import Caller, Fork, invoked_by
from planner_executor.graph.calls.toolbox import Toolbox
from planner_executor.graph.errors import OtherTermsError
from planner_executor.graph.nodes.run.context import RunContext
from planner_executor.graph.nodes.run.current_run import (
    begin_run,
    checkpoint_id,
    invocation_of,
    latest_run,
    open_run,
    start_run,
    thread_of,
)
from planner_executor.graph.record.budget import Budget
from planner_executor.graph.record.events import ON_SERVER
from planner_executor.graph.record.goal import Goal
from planner_executor.graph.record.person import Approver, Person
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.testing import drafted, on_thread

GOAL = Goal("g")
STARTED = {"goal": "g", "constraints": []}


class Nothing(TypedDict, total=False):
    """A state of which the test's node writes nothing."""

    unused: str


def at_node(work: Callable[[Any], Awaitable[Any]], checkpointer: Any = None) -> Any:
    """Do work in a node of a graph, given the services of a ledger in memory."""
    found = []

    async def main() -> None:
        given = services()

        async def node(_state: Nothing) -> Nothing:
            found.append(await work(given))
            return {}

        graph = StateGraph(Nothing).add_node("node", node).add_edge(START, "node").compile(checkpointer=checkpointer)
        await graph.ainvoke({}, on_thread())

    asyncio.run(main())
    return found[0]


def opened(named: Any, runs: int = 3, here: int | None = None, plan: Any = None) -> RunContext | None:
    """Return the run that a state names, of a thread with so many runs; `here` is one that was at this checkpoint."""

    async def work(given: Any) -> RunContext | None:
        ledger = await given.ledger()
        for n in range(1, runs + 1):
            was_here = [drafted("paused", {"checkpoint": checkpoint_id()})] if n == here else []
            await ledger.open_run("t", [drafted("run_started", STARTED), *was_here])
        return await open_run(given, {"run": named, "plan": plan}, on_thread("t"))

    found: RunContext | None = at_node(work, InMemorySaver())
    return found


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_state_belongs_to_the_run_that_it_names(n: int) -> None:
    run = opened({"thread": "t", "n": n, "seq": 1}, plan={"steps": []})

    assert run is not None
    assert (run.key, run.record.id, run.shown) == (RunKey("t", n), f"t.{n}", {"steps": []})
    assert run.named == {"thread": "t", "n": n, "seq": 1}


@pytest.mark.parametrize(
    "named",
    [None, "t.1", {}, {"thread": "other", "n": 1}, {"thread": "t", "n": 0}, {"thread": "t", "n": 4}, {"thread": "t"}],
    ids=repr,
)
def test_a_state_that_names_no_run_of_this_thread_belongs_to_none(named: Any) -> None:
    assert opened(named) is None


def test_a_thread_without_a_run_has_none() -> None:
    assert opened({"thread": "t", "n": 1}, runs=0) is None


def test_a_later_run_that_has_been_at_this_checkpoint_is_the_states() -> None:
    fork = opened({"thread": "t", "n": 1}, runs=4, here=3)

    assert fork is not None
    assert (fork.key, fork.record.id) == (RunKey("t", 3), "t.3")


def test_an_earlier_run_that_has_been_at_this_checkpoint_is_not_the_states() -> None:
    run = opened({"thread": "t", "n": 2}, runs=3, here=1)

    assert run is not None and run.key == RunKey("t", 2)


@pytest.mark.parametrize("runs", [0, 2])
def test_the_latest_run_is_read_from_the_ledger_whatever_the_state_names(runs: int) -> None:
    async def work(given: Any) -> Any:
        ledger = await given.ledger()
        for _ in range(runs):
            await ledger.open_run("t", [drafted("run_started", STARTED)])
        run = await latest_run(given, "t", "whatever")
        return run and (run.key.n, run.record.id, run.named)

    assert at_node(work) == ((2, "t.2", "whatever") if runs else None)


@pytest.mark.parametrize("owns", [True, False])
def test_the_next_run_has_the_goal_the_chat_before_it_and_what_it_was_started_with(owns: bool) -> None:
    chat = [HumanMessage("hello"), AIMessage("hi"), HumanMessage("g")]
    state = {"messages": chat, "tags": ["nightly"]}

    async def work(given: Any) -> Any:
        if not owns:
            run = await start_run(given, state, on_thread("t"), GOAL)
        else:
            async with begin_run(given, state, on_thread("t"), GOAL) as writer:
                run = writer.run
                await writer.write(drafted("paused"))
                assert writer.lease is not None
        assert run.services.configuration[0] == run.record.assignment.configuration
        assert run.checkpoint == checkpoint_id() and run.here_before
        started = run.record.assignment.started
        return run.key, started.goal, [list(said) for said in started.history]

    key, goal, history = at_node(work, InMemorySaver())

    assert (key, goal) == (RunKey("t", 1), "g")
    assert history == [["user"], ["untrusted_data"]]


def test_a_run_may_begin_without_a_chat() -> None:
    async def work(given: Any) -> Any:
        return (await start_run(given, {}, on_thread("t"), GOAL)).record.assignment.started.history

    assert at_node(work) == ()


def test_a_node_names_the_checkpoint_that_it_runs_at() -> None:
    async def work(_given: Any) -> Any:
        return checkpoint_id()

    assert len({at_node(work, InMemorySaver()) for _ in range(2)} - {""}) == 2


def test_a_thread_is_named_by_the_caller_or_the_run_or_for_this_invocation_alone() -> None:
    assert thread_of({"run": {"thread": "other"}}, on_thread("t")) == "t"
    assert thread_of({}, {"configurable": {"thread_id": 7}}) == "7"
    assert thread_of({"run": {"thread": "other"}}, {}) == "other"
    for state in ({}, {"run": {}}, {"run": "thread"}):
        one, two = thread_of(state, {}), thread_of(state, {})
        assert one.startswith("unnamed-") and one != two


PICTURE = {"type": "image", "mime_type": "image/png", "base64": "iVBORw0KGgo="}


@pytest.mark.parametrize("pictures", [[], [PICTURE]], ids=["no picture", "a picture"])
def test_pictures_of_the_goal_are_stored_beside_the_first_event(pictures: list[Any]) -> None:
    said = HumanMessage([{"type": "text", "text": "g"}, *pictures])

    async def work(given: Any) -> Any:
        attached = (await start_run(given, {"messages": [said]}, on_thread("t"), GOAL)).record.assignment.attached
        return attached and await (await given.ledger()).artifact(attached.artifact["id"])

    found = at_node(work)
    assert (found is None) if not pictures else PICTURE["base64"] in found


def test_whoever_the_facade_found_starts_the_run_or_else_whom_an_adapter_knows() -> None:
    async def work(given: Any) -> list[str]:
        known = replace(given, identity=lambda _: Person("eve"))
        with invoked_by(Caller("t", by=Approver("ada", "server"))):
            first = await start_run(known, {}, on_thread("t"), GOAL)
        second = await start_run(known, {}, on_thread("t"), GOAL)
        return [run.record.people.starter for run in (first, second)]

    assert at_node(work) == ["server:ada", "server:eve"]


def test_a_run_that_no_facade_starts_is_the_servers_if_there_is_one() -> None:
    async def work(given: Any) -> list[str | None]:
        alone = await start_run(given, {}, on_thread("t"), GOAL)
        (place,) = [name for name, value in get_config()["configurable"].items() if value is get_runtime()]
        get_config()["configurable"][place] = replace(get_runtime(), server_info=SimpleNamespace(user=None))
        served = await start_run(given, {}, on_thread("t"), GOAL)
        return [run.record.assignment.origin for run in (alone, served)]

    assert at_node(work) == [None, ON_SERVER]


@pytest.mark.parametrize(
    ("given", "invocation"),
    [
        ({"run_id": "i"}, "i"),
        ({"run_id": UUID(int=7)}, str(UUID(int=7))),
        ({"run_id": ""}, None),
        ({"run_id": 7}, None),
        ({}, None),
    ],
)
def test_an_invocation_is_known_by_the_id_that_a_server_gives(given: Any, invocation: str | None) -> None:
    assert invocation_of({"configurable": given}) == invocation


def test_a_node_goes_on_with_a_run_under_its_terms_unless_it_has_ended() -> None:
    named = {"run": {"thread": "t", "n": 1}}

    async def work(given: Any) -> Any:
        run = await start_run(given, {}, on_thread("t"), GOAL)
        here, ledger = replace(given, toolbox=Toolbox(())), await given.ledger()
        with pytest.raises(OtherTermsError, match="needs"):
            await open_run(here, named, on_thread("t"))
        async with ledger.owned(run.key) as lease:
            await ledger.append(lease, [drafted("run_ended")])
        ended = await open_run(here, named, on_thread("t"))
        return run.goes_on, ended is not None

    assert at_node(work) == (False, True)


def test_a_run_keeps_names_and_the_playbook_that_it_was_started_with() -> None:
    async def work(given: Any) -> Any:
        with invoked_by(Caller("t", started={"playbook": {"name": "tell", "limits": {"steps": 3}}})):
            found = (await start_run(given, {}, on_thread("t"), GOAL)).record.assignment
        return found.started.keeps_names, found.started.playbook["name"], found.budget.steps

    assert at_node(work) == (True, "tell", 3)


def test_a_fork_begins_under_the_terms_of_its_source_if_they_are_stricter() -> None:
    async def work(given: Any) -> Any:
        strict = services(ledger=await given.ledger(), budget=Budget(steps=3))
        source = (await start_run(strict, {}, on_thread("t"), GOAL)).record.assignment
        async with begin_run(given, {}, on_thread("t"), GOAL, Fork(source)) as writer:
            return given.settings.budget.steps, writer.run.record.assignment.budget.steps

    wider, found = at_node(work)
    assert wider != found == 3
