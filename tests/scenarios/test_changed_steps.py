"""People change what is left of a run that stands still: skip a step, give its result, edit the plan."""

from pathlib import Path
from typing import Any

import pytest

from graph import Agent
from graph.errors import InputError, NothingToDecideError
from graph.runs import Run
from graph.testing import LoggedTools, ScriptedModel, step

PLAN: dict[str, Any] = {
    "steps": [
        step("look", "look", at="x"),
        step("mail", "mail", to="{look_result}", after=["look"]),
        step("note", "note", text="{mail_result}"),
        step("other", "note", text="apart"),
    ]
}
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
    agent.resume(waiting.id)
    ended = agent.resume(waiting.id, "approve")

    assert ended.status == "succeeded" and ended.results["note"].value == "sent to ada"
    assert [name for name, _ in tools.calls].count("look") == 0
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
