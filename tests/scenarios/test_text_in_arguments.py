"""However text reaches an argument: the call is made under the approval that the table names, and no other."""

from collections.abc import Iterator
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from text_ways import ANN, READ, RESULT, THOUGHT, TRUST, WAYS, Way, send

from planner_executor import Agent, build_graph
from planner_executor.graph.testing import LoggedTools, ScriptedModel, on_thread

APPROVE = {"type": "approve"}
TAKES_TO = {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}


@pytest.fixture
def saver() -> InMemorySaver:
    return InMemorySaver()


def tools_of(log: LoggedTools, trust: str) -> list[Any]:
    def fails(**_: Any) -> str:
        raise ValueError("out of order")

    read = {"effect": "read", "trusted": True}
    return [
        log.tool("source", lambda: RESULT, effect="read", **TRUST[trust]),
        log.tool("upper", lambda text: text, **read),
        log.tool("flaky", fails, **read),
        log.tool("send", lambda to: to, schema=TAKES_TO, effect="external", trusted=True),
        log.tool("note", lambda text: text, effect="write", trusted=True, free_args=("text",)),
        log.tool("post", lambda to: to, schema=TAKES_TO),
    ]


def answer_to(action: dict[str, Any]) -> dict[str, Any]:
    if action["name"] != "answer_question":
        return APPROVE
    return {"type": "edit", "edited_action": {"name": action["name"], "args": {**action["args"], "answer": ANN}}}


def requests_of(graph: Any, plan: dict[str, Any]) -> Iterator[list[dict[str, Any]]]:
    """Yield the actions of each request of a run whose reader approves everything."""
    state = graph.invoke({"goal": "g", "plan": plan}, on_thread())
    while "__interrupt__" in state:
        actions = state["__interrupt__"][0].value["action_requests"]
        yield actions
        state = graph.invoke(Command(resume={"decisions": [answer_to(action) for action in actions]}), on_thread())
    assert state["status"] in ("succeeded", "partial"), state["reason"]


def end_told(description: str) -> str:
    """Return what the review of a plan says of the call, as the table has it."""
    words = " ".join(description.split())
    if "shown again before it is made, with the values that come from source" in words:
        return "call"
    if "Warning: post in s" in words:
        return "warned"
    return "named" if "uses what source returns" in words else "plan"


@pytest.mark.parametrize("trust", TRUST)
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.words)
def test_a_call_is_made_under_the_approval_that_the_table_names(way: Way, trust: str, saver: InMemorySaver) -> None:
    log = LoggedTools()
    graph = build_graph(
        planner=ScriptedModel([]),
        executor=ScriptedModel(way.executor),
        replanner=ScriptedModel([way.revision] if way.revision else []),
        tools=tools_of(log, trust),
        checkpointer=saver,
        **way.options,
    )

    requests = list(requests_of(graph, {"steps": way.steps}))

    shown = [action["args"]["args"] for actions in requests for action in actions if action["name"] == "run_step"]
    assert bool(shown) == (way.end(trust) == "call"), requests
    assert all(set(args.values()) <= {ANN, f"<{ANN}>"} for args in shown)
    assert [tool for tool, _ in log.calls if tool in ("send", "note", "post")] == [
        *(way.steps[-1].get("tools") or [way.steps[-1]["tool"].replace("flaky", "send")])
    ]
    if way.end(trust) == "policy" or "policy" in way.options:
        assert all(action["name"] == "run_step" for actions in requests for action in actions)
    elif way.revision is None:
        assert end_told(requests[0][0]["description"]) == way.end(trust)


@pytest.mark.parametrize("by", ["supply", "edit"])
def test_a_value_of_a_person_in_place_of_a_models_text_is_the_persons(database: str, by: str) -> None:
    log = LoggedTools()
    plan = {"steps": [READ, THOUGHT, send("{m_result}")]}
    models = {"planner": ScriptedModel([]), "executor": ScriptedModel(["eve@example.com"])}
    with Agent.open(database, **models, tools=tools_of(log, "not declared")) as agent:
        run = agent.start("g", plan=plan)
        if by == "supply":
            agent.supply(run.id, "m", ANN)
            agent.resume(run.id)
            run = agent.resume(run.id, APPROVE)
        else:
            run = agent.resume(agent.resume(run.id, APPROVE).id, {"type": "edit", "edited_action": edited_send()})

    assert run.status == "succeeded" and log.named("send") == [{"to": ANN}]


def edited_send() -> dict[str, Any]:
    return {"name": "run_step", "args": {"step": "s", "tool": "send", "args": {"to": ANN}}}
