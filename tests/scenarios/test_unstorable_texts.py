"""Texts that some database cannot keep are refused in words, wherever a caller gives one, before anything is done."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from planner_executor import Agent
from planner_executor.graph.errors import InputError, UnknownRunError
from planner_executor.graph.runs.run import Run
from planner_executor.graph.testing import LoggedTools, ScriptedModel, step

PLAN = {"steps": [step("a", "look", at="x"), step("b", "look", at="y")]}
NUL, HALF = "x\0y", "x\ud800y"


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Agent]:
    tools = [LoggedTools().tool("look", effect="read")]
    with Agent.open(tmp_path / "runs.db", planner=ScriptedModel([PLAN, PLAN]), tools=tools) as opened:
        yield opened


def say(agent: Agent, run: Run, words: str) -> Any:
    async def said(own: Any) -> Any:
        graph = (await own._open.get()).graph
        return await graph.ainvoke({"messages": [HumanMessage(words)]}, {"configurable": {"thread_id": run.thread}})

    state = agent.wait_for(lambda _: said(agent._agent))
    raise InputError("words", str(state["messages"][-2].text))


GIVEN: dict[str, Callable[[Agent, Run, str], Any]] = {
    "a goal": lambda agent, _, text: agent.start(text, plan=PLAN),
    "a constraint": lambda agent, _, text: agent.start("g", constraints=[text], plan=PLAN),
    "a tag": lambda agent, _, text: agent.start("g", tags=[text], plan=PLAN),
    "a thread": lambda agent, _, text: agent.start("g", thread=text, plan=PLAN),
    "the thread of a fork": lambda agent, run, text: agent.fork(run.id, "b", thread=text),
    "a result in a fork": lambda agent, run, text: agent.fork(run.id, "b", values={"a": [text]}),
    "a constraint to add": lambda agent, run, text: agent.steer(run.id, add=[text]),
    "a constraint to withdraw": lambda agent, run, text: agent.steer(run.id, withdraw=[text]),
    "feedback": lambda agent, run, text: agent.steer(run.id, feedback=text),
    "a constraint in a chat": lambda agent, run, text: say(agent, run, f"Steer: {text}"),
    "why a step is skipped": lambda agent, run, text: agent.skip(run.id, "b", text),
    "a result": lambda agent, run, text: agent.supply(run.id, "a", text),
    "a key of a result": lambda agent, run, text: agent.supply(run.id, "a", {"n": [{text: 1}]}),
    "why a value is redacted": lambda agent, run, text: agent.redact(run.id, "some value", reason=text),
    "feedback to a retry": lambda agent, run, text: agent.retry(run.id, feedback=text),
}


@pytest.mark.parametrize("text", [NUL, HALF], ids=["NUL", "half a pair"])
@pytest.mark.parametrize("give", GIVEN.values(), ids=GIVEN)
def test_it_is_refused_and_nothing_is_done(agent: Agent, give: Callable[[Agent, Run, str], Any], text: str) -> None:
    run = agent.start("g", plan=PLAN)

    with pytest.raises(InputError, match=r"cannot be kept|half a surrogate pair|visible characters"):
        give(agent, run, text)

    assert {event.kind for event in agent.log(run.id)} == {"run_started", "plan_revised", "review_requested"}
    assert [one.thread for one in agent.list()] == [run.thread]


def test_no_run_is_named_with_half_a_surrogate_pair(agent: Agent) -> None:
    for look in (agent.show, agent.pause, agent.cancel):
        with pytest.raises(UnknownRunError):
            look(HALF)
