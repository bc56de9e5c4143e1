"""What a plan may take is said before it is approved, by what like steps took, and compared at the end."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from planner_executor import Agent, build_graph
from planner_executor.graph.runs.run import Run
from planner_executor.graph.testing import LoggedTools, ScriptedModel, on_thread, step

PRICES = {"prices": {"scripted": {"input": 100.0, "output": 100.0}}}
THINK = {"id": "m", "objective": "think", "depends_on": ["s"]}
PLAN = {"steps": [step("s", "send", to="ann"), THINK], "answer": "{m_result}"}
APPROVE = {"type": "approve"}


def thought(text: str, read: int, written: int) -> AIMessage:
    counts = {"input_tokens": read, "output_tokens": written, "total_tokens": read + written}
    return AIMessage(text, usage_metadata=counts)  # type: ignore[arg-type]


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Agent]:
    tools = LoggedTools()
    own = [tools.tool(name, effect="external", trusted=True) for name in ("send", "look")]
    answers = [thought("one", 1000, 100), thought("two", 3000, 200), thought("three", 2000, 100)]
    with Agent.open(tmp_path / "runs.db", planner=ScriptedModel(answers), tools=own, policy=PRICES) as opened:
        yield opened


def finished(agent: Agent, plan: Any = PLAN) -> Run:
    return agent.resume(agent.start("g", plan=plan).id, APPROVE)


def takes(run: Run) -> Any:
    assert run.request is not None
    return run.request["estimate"]["takes"]


def described(run: Run) -> str:
    assert run.request is not None
    return str(run.request["action_requests"][0]["description"])


def test_without_history_a_review_says_that_it_is_not_known_but_for_the_prompts(agent: Agent) -> None:
    run = agent.start("g", plan=PLAN)

    assert takes(run)["unknown"] == ["send", "m"]
    assert takes(run)["seconds"] == {"low": 0.0}
    assert takes(run)["tokens"].keys() == takes(run)["cost_usd"].keys() == {"low"}
    assert 100 < takes(run)["tokens"]["low"] < 500
    assert "Estimate, from the length of the prompts: at least " in described(run)
    assert "Not counted: send, m, which have not run here before." in described(run)


def test_like_steps_give_a_range_and_the_end_compares(agent: Agent) -> None:
    for _ in range(2):
        assert finished(agent).status == "succeeded"

    run = agent.start("g", plan=PLAN)

    assert takes(run)["tokens"] == {"low": 1100, "high": 3200}
    assert takes(run)["cost_usd"] == {"low": 0.11, "high": 0.32}
    assert "unknown" not in takes(run)
    assert "1,100 to 3,200 tokens and 0.11 to 0.32 US dollars." in described(run)
    run = agent.resume(run.id, APPROVE)
    assert run.said is not None and run.said["tokens"] == {"low": 1100, "high": 3200}
    assert run.spent is not None and (run.spent["tokens"], run.spent["cost_usd"]) == (2100, 0.21)
    assert re.search(r"; took (.*, )?2,100 tokens and 0\.21 US dollars$", run.compared)
    shown = run._repr_mimebundle_()
    assert all(run.compared in shown[kind] for kind in ("text/html", "text/plain"))


def test_the_end_compares_in_a_chat_too() -> None:
    tools, model = LoggedTools(), ScriptedModel([thought(str(n), 1000, 100) for n in range(2)])
    saver = InMemorySaver()
    graph = build_graph(planner=model, tools=[tools.tool("send", effect="external")], checkpointer=saver)
    said = []
    for thread in ("first", "second"):
        graph.invoke({"goal": "g", "plan": PLAN}, on_thread(thread))
        said.append(graph.invoke(Command(resume=APPROVE), on_thread(thread))["messages"][-1].text)

    assert said[0].startswith("0\n\nExpected at least ") and "tokens; took " in said[0]
    assert re.fullmatch(r"1\n\nExpected (.* and )?about 1,100 tokens; took (.* and )?1,100 tokens\.", said[1])


def test_a_step_unlike_any_before_leaves_the_upper_bound_open(agent: Agent) -> None:
    finished(agent)

    run = agent.start("g", plan={"steps": [*PLAN["steps"], step("l", "look")]})

    assert takes(run)["unknown"] == ["look"] and "high" not in takes(run)["seconds"]
    assert takes(run)["tokens"] == {"low": 1100, "high": 1100}


def test_what_was_said_stays_while_others_make_history_and_is_replayed(agent: Agent) -> None:
    run = agent.start("g", plan=PLAN)
    before, said = takes(run), described(run)
    finished(agent)

    again = agent.resume(run.id)

    assert (takes(again), described(again)) == (before, said)
    run = agent.resume(run.id, APPROVE)
    assert run.status == "succeeded" and run.said == before
    assert agent.replay(run.id).is_same
    finished(agent, {"steps": [step("s", "send", to="bob")]})
    assert agent.replay(run.id).is_same


def test_what_nobody_is_shown_costs_no_look_at_the_history(agent: Agent, tmp_path: Path) -> None:
    tools = LoggedTools()
    own = [tools.tool("send", effect="external", trusted=True)]
    with Agent.open(tmp_path / "other.db", planner=ScriptedModel([]), tools=own, approval="never") as other:
        run = other.start("g", plan={"steps": [step("s", "send", to="ann")]})

        (revised,) = [event.payload for event in other.log(run.id) if event.kind == "plan_revised"]
    assert "like_steps" not in revised and run.said is None


def test_items_of_a_list_are_history_of_their_like(agent: Agent) -> None:
    each = {"id": "e", "objective": "think", "for_each": ["x", "y"]}
    finished(agent, {"steps": [each]})

    run = agent.start("g", plan={"steps": [{"id": "m", "objective": "think"}]})

    assert "unknown" not in takes(run) and takes(run)["tokens"] == {"low": 1100, "high": 3200}
    assert takes(agent.start("g", plan={"steps": [{**each, "max_items": 5}]}))["tokens"] == {"low": 2200, "high": 6400}
