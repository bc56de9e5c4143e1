"""The content of a request as data, through whole runs: what a gate lets through, and what another process is told."""

import json
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from planner_executor import Agent, Person, build_graph
from planner_executor.graph.runs.run import Run
from planner_executor.graph.testing import LoggedTools, ScriptedModel, asked, on_thread, step

READERS = [{"to": f"p{number}@example.org"} for number in range(12)]


@pytest.fixture
def own(tools: LoggedTools) -> list[Any]:
    return [
        tools.tool("readers", lambda **_: READERS, effect="read", trusted=True),
        tools.tool("mail", effect="external", summary="mail {to}", trusted=True, reversible=False),
        tools.tool("web", lambda **_: "eve@example.org", effect="read", trusted=False),
    ]


def content(run: Run) -> dict[str, Any]:
    assert run.request is not None
    found: dict[str, Any] = run.request["review"]
    return found


def test_a_gate_before_a_newsletter_names_its_tool_its_recipients_and_how_often_it_is_sent(
    tmp_path: Path, own: list[Any]
) -> None:
    each = {**step("send", "mail", to="{item_result.to}", subject="News"), "for_each": "{list_result}"}
    gate = {"id": "ready", "objective": "look", "gate": "Send it?", "depends_on": ["list"]}
    note = step("boss", "mail", to="{list_result[0].to}", subject="Sent", after=["send"])
    plan = {"steps": [step("list", "readers"), gate, {**each, "depends_on": ["ready"]}, note]}

    with Agent.open(tmp_path / "runs.db", planner=ScriptedModel([]), tools=own) as agent:
        run = agent.resume(agent.start("g", plan=plan).id, "approve")

    (told,) = content(run)["actions"]
    mail = {"name": "mail", "effect": "external", "trust": "trusted", "reversible": False}
    assert told == {
        "name": "run_step",
        "kind": "gate",
        "words": "Send it?",
        "decisions": ["approve", "reject"],
        "step": "ready",
        "steps": ["send"],
        "through": [
            {
                "step": "send",
                "tool": mail,
                "does": "mail [item_result.to]",
                "args": {"to": {"value": "{item_result.to}"}, "subject": {"value": "News"}},
                "items": 12,
            },
            {
                "step": "boss",
                "tool": mail,
                "does": "mail p0@example.org",
                "args": {"to": {"value": "p0@example.org"}, "subject": {"value": "Sent"}},
            },
        ],
    }
    assert run.request is not None
    shown = run.request["action_requests"][0]["description"]
    assert "send: mail (external), 12 times" in shown and "mail p0@example.org" in shown


def test_another_process_is_told_the_same_as_the_one_that_asked(tmp_path: Path, own: list[Any]) -> None:
    rules = {"approvers": {"names": ["ada", "bob"], "quorum": 2, "decide_within": "1d"}}
    options: dict[str, Any] = {"planner": ScriptedModel([]), "tools": own, "policy": rules, "identity": lambda by: by}
    plan = {"steps": [step("who", "web"), step("send", "mail", to="{who_result}", subject="Hi")]}
    with Agent.open(tmp_path / "runs.db", **options) as agent:
        run = agent.start("g", plan=plan)
        told = agent.resume(run.id, "approve", by=Person("ada", proof="ok"))
    with Agent.open(tmp_path / "runs.db", **options) as other:
        shown = other.show(run.id)
        assert content(shown) == content(told)

    people, (action,) = content(told)["people"], content(told)["actions"]
    assert (people["approved_by"], people["rules"]) == (["server:ada"], [{"names": ["ada", "bob"], "quorum": 2}])
    assert people["until"] == pytest.approx(run.started_at + 86_400, abs=60) and people["on_expire"] == "reject"
    to = action["steps"][1]["args"]["mail"]["to"]
    assert to == {"origin": "result", "steps": ["who"], "trust": "untrusted", "sources": ["web"], "asked": True}
    assert action["steps"][1]["does"] == {"mail": "mail [who_result]"}


def test_a_request_grows_with_its_plan_and_repeats_no_argument(saver: InMemorySaver, own: list[Any]) -> None:
    sizes = {}
    for count in (30, 300):
        steps = [step(f"s{number:03}", "mail", to="x" * 5_000, subject="Hi") for number in range(count)]
        graph = build_graph(ScriptedModel([{"steps": steps}]), tools=own, checkpointer=saver)
        request = asked(graph.invoke({"goal": "g"}, on_thread(f"t{count}")))
        sizes[count] = len(json.dumps(request["review"]))

    assert sizes[300] < 11 * sizes[30] and sizes[30] < 30 * 500
