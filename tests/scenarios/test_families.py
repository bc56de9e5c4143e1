"""A run, its thread and its forks are one memory: what one of them has done, or may have, no other does unannounced."""

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.messages import AIMessage

from planner_executor import Agent, AsyncAgent
from planner_executor.graph.runs.run import Run
from planner_executor.graph.testing import LoggedTools, ScriptedModel, step

PLAN: dict[str, Any] = {"steps": [step("rent", "look", at="x"), step("paid", "pay", amount=980, after=["rent"])]}
WITH_MODEL: dict[str, Any] = {
    "steps": [step("rent", "look", at="x"), {"id": "paid", "objective": "o", "tools": ["pay"]}]
}


@pytest.fixture
def own(tools: LoggedTools) -> list[Any]:
    return [
        tools.tool("pay", lambda **_: "receipt", effect="external"),
        tools.tool("look", lambda at: at, effect="read"),
    ]


@pytest.fixture
def agent(database: str, own: list[Any]) -> Iterator[Agent]:
    with Agent.open(database, planner=ScriptedModel([]), tools=own, replan="never") as agent:
        yield agent


def asked(run: Run) -> list[str]:
    return [one["name"] for one in run.request["action_requests"]] if run.request is not None else []


def shown(run: Run) -> str:
    assert run.request is not None
    return str(run.request["action_requests"][0]["description"])


@pytest.mark.parametrize("first", ["the run", "the fork"])
def test_of_a_run_that_waits_and_its_fork_the_second_to_pay_asks(agent: Agent, tools: LoggedTools, first: str) -> None:
    run = agent.start("g", thread="demo", plan=PLAN)
    fork = agent.fork(run.id, "rent", thread="branch")
    one, other = (run, fork) if first == "the run" else (fork, run)

    assert agent.resume(one.id, "approve").status == "succeeded"
    second = agent.resume(other.id, "approve")
    assert (asked(second), tools.named("pay")) == (["run_step"], [{"amount": 980}])
    assert f"The same call happened in {one.id}" in shown(second)

    again = agent.resume(second.id, second.decide(approve=True))
    assert again.status == "succeeded" and len(tools.named("pay")) == 2, "a person has seen it and wants it"
    assert agent.replay(second.id).is_same and agent.verify(second.id).is_whole


def test_of_two_forks_of_a_run_that_waits_the_second_to_pay_asks(agent: Agent, tools: LoggedTools) -> None:
    run = agent.start("g", thread="demo", plan=PLAN)
    forks = [agent.fork(run.id, "rent", thread=name) for name in ("left", "right")]

    ends = [asked(agent.resume(fork.id, "approve")) for fork in forks]
    assert ends == [[], ["run_step"]] and len(tools.named("pay")) == 1


def test_a_new_goal_on_the_thread_may_mean_to_pay_again(agent: Agent, tools: LoggedTools) -> None:
    for _ in range(2):
        run = agent.resume(agent.start("g", thread="demo", plan=PLAN).id, "approve")
        assert run.status == "succeeded"
    assert len(tools.named("pay")) == 2


@pytest.mark.parametrize("happened", [True, False])
@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_what_may_have_happened_in_a_fork_since_is_settled_first(
    database: str, tools: LoggedTools, happened: bool
) -> None:
    def fail_once(**_: Any) -> str:
        if len(tools.named("pay")) == 1:
            raise TimeoutError("no answer")
        return "receipt"

    own = [tools.tool("pay", fail_once, effect="external"), tools.tool("look", lambda at: at, effect="read")]
    with Agent.open(database, planner=ScriptedModel([]), tools=own, replan="never") as agent:
        run = agent.start("g", thread="demo", plan=PLAN)
        fork = agent.fork(run.id, "rent", thread="branch")
        agent.resume(fork.id, "approve")

        waits = agent.resume(run.id, "approve")
        assert asked(waits) == ["settle_effect"] and len(tools.named("pay")) == 1
        went_on = agent.resume(run.id, waits.decide(happened=[happened]))
        if happened:
            assert asked(went_on) == ["run_step"] and len(tools.named("pay")) == 1
        else:
            assert went_on.status == "succeeded" and len(tools.named("pay")) == 2


@pytest.mark.parametrize("plan", [PLAN, WITH_MODEL], ids=["a step of a tool", "a step of a model"])
async def test_while_a_run_pays_the_same_call_of_its_fork_is_held(
    database: str, tools: LoggedTools, plan: dict[str, Any]
) -> None:
    """Both are executed at once, by two agents, as by two processes."""
    pays, may_end = threading.Event(), threading.Event()

    def pay(**_: Any) -> str:
        pays.set()
        may_end.wait(30)
        return "receipt"

    def opened() -> AsyncAgent:
        own = [tools.tool("pay", pay, effect="external"), tools.tool("look", lambda at: at, effect="read")]
        wants = AIMessage("", tool_calls=[{"name": "pay", "args": {"amount": 980}, "id": "1"}])
        return AsyncAgent.open(
            database, planner=ScriptedModel([]), executor=ScriptedModel([wants, "paid"]), tools=own, replan="never"
        )

    async with opened() as one, opened() as other:
        run = await one.start("g", thread="demo", plan=plan)
        fork = await one.fork(run.id, "rent", thread="branch")
        paying = asyncio.create_task(one.resume(run.id, "approve"))
        assert await asyncio.to_thread(pays.wait, 30)
        held = await other.resume(fork.id, "approve")
        may_end.set()
        held, paid = (held, await paying)
    assert (asked(held), paid.status) == (["settle_effect"], "succeeded")
    assert tools.named("pay") == [{"amount": 980}]


async def test_a_call_that_was_under_way_and_has_ended_since_is_shown_though_a_person_denied_it(
    database: str, tools: LoggedTools
) -> None:
    """The answer was about a call without an outcome; that it has one now is a fact."""
    pays, may_end = threading.Event(), threading.Event()

    def pay(**_: Any) -> str:
        pays.set()
        may_end.wait(30)
        return "receipt"

    own = [tools.tool("pay", pay, effect="external"), tools.tool("look", lambda at: at, effect="read")]

    options: dict[str, Any] = {"planner": ScriptedModel([]), "tools": own, "replan": "never"}
    async with AsyncAgent.open(database, **options) as one, AsyncAgent.open(database, **options) as other:
        run = await one.start("g", thread="demo", plan=PLAN)
        fork = await one.fork(run.id, "rent", thread="branch")
        paying = asyncio.create_task(one.resume(run.id, "approve"))
        assert await asyncio.to_thread(pays.wait, 30)
        held = await other.resume(fork.id, "approve")
        may_end.set()
        assert (await paying).status == "succeeded"
        assert (
            asked(await other.resume(fork.id, held.decide(happened=[False]))) == ["run_step"]
            and len(tools.named("pay")) == 1
        )
