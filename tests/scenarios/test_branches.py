"""Plans with branches that need no model: what runs, what is asked, how the run ends, and what goes on afterwards."""

from pathlib import Path
from typing import Any

import pytest

from planner_executor import Agent
from planner_executor.graph.errors import InputError
from planner_executor.graph.testing import LoggedTools, ScriptedModel, step

ABOVE = {"of": "{look_result.n}", "condition": "@ > `5`"}
BELOW = {"of": "{look_result.n}", "condition": "@ <= `5`"}


@pytest.fixture
def agent(tmp_path: Path, tools: LoggedTools) -> Any:
    def pay(n: Any) -> str:
        if n == "broken":
            raise ValueError("no such account")
        return f"paid {n}"

    options: dict[str, Any] = {
        "planner": ScriptedModel([]),
        "tools": [
            tools.tool("look", lambda n: {"n": n}, effect="read"),
            tools.tool("pay", pay, effect="external", idempotent=True),
        ],
        "replan": "never",
    }
    with Agent.open(tmp_path / "runs.db", **options) as agent:
        yield agent


def plan(n: Any, *steps: Any, answer: Any = None) -> dict[str, Any]:
    return {"steps": [step("look", "look", n=n), *steps], "answer": answer}


def ended(agent: Agent, plan: Any) -> Any:
    return agent.resume(agent.start("g", plan=plan).id, "approve")


def test_a_branch_that_is_not_taken_is_no_failure(agent: Agent, tools: LoggedTools) -> None:
    pays = {**step("pay", "pay", n="{look_result.n}"), "when": ABOVE}
    after = step("after", "look", n="{pay_result}")

    run = ended(agent, plan(3, pays, after, answer={"seen": "{look_result.n}", "paid": "{pay_result}"}))

    assert (run.status, run.answer) == ("succeeded", {"seen": 3, "paid": None})
    assert run.step_status == {"look": "succeeded", "pay": "skipped", "after": "skipped"}
    assert "pay (its condition is false: @ > `5`)" in run.reason
    assert [name for name, _ in tools.calls] == ["look"]
    assert agent.replay(run.id).is_same


def test_branches_come_together_in_one_step(agent: Agent) -> None:
    steps = [
        {**step("pay", "pay", n="{look_result.n}"), "when": ABOVE},
        {**step("again", "look", n="less"), "when": BELOW},
        {"id": "end", "objective": "o", "gather": ["{pay_result}", "{again_result.n}"], "run_if": "any"},
    ]

    run = ended(agent, plan(9, *steps))

    assert (run.status, run.answer) == ("succeeded", ["paid 9", None])
    assert agent.replay(run.id).is_same


def test_a_run_whose_last_step_is_not_due_succeeds_without_an_answer(agent: Agent) -> None:
    run = ended(agent, plan(3, {**step("pay", "pay", n=1), "when": ABOVE}, answer="{pay_result}"))

    assert (run.status, run.answer) == ("succeeded", None)


def test_a_step_that_a_person_skips_is_still_missing_in_the_answer(agent: Agent) -> None:
    waiting = agent.start("g", plan=plan(9, {**step("pay", "pay", n=1), "when": ABOVE}, answer="{pay_result}"))
    agent.skip(waiting.id, "pay", "not this time")

    agent.resume(waiting.id)

    assert agent.resume(waiting.id, "approve").status == "partial"


@pytest.mark.parametrize(("n", "kinds"), [(3, []), (9, ["answer_question"])])
def test_a_question_is_asked_only_if_its_condition_is_true(agent: Agent, n: int, kinds: list[str]) -> None:
    run = ended(agent, plan(n, {"id": "ask", "objective": "o", "ask": "Why?", "when": ABOVE}))

    requests = run.request["action_requests"] if run.request else []
    assert [request["name"] for request in requests] == kinds


def test_a_gate_with_a_condition_is_not_asked_before_the_condition_is_evaluated(agent: Agent) -> None:
    gate = {"id": "gate", "objective": "o", "gate": "Go?", "when": {"of": 1, "condition": "@ > `5`"}}

    waiting = agent.start("g", plan={"steps": [gate, step("look", "look", n=1)]})

    assert waiting.request is not None
    assert [request["name"] for request in waiting.request["action_requests"]] == ["run_plan"]
    assert agent.resume(waiting.id, "approve").status == "succeeded"


def test_a_retry_does_not_evaluate_a_condition_again(agent: Agent) -> None:
    steps = [{**step("no", "look", n=1), "when": BELOW}, {**step("pay", "pay", n="broken"), "when": ABOVE}]
    run = ended(agent, plan(9, *steps))
    assert run.status == "failed"

    again = agent.retry(run.id)

    assert (again.status, again.step_status) == ("failed", run.step_status)
    kinds = [event.kind for event in agent.log(run.id).events]
    assert (kinds.count("condition_evaluated"), kinds.count("call_started")) == (2, 3)


def test_what_its_condition_skipped_is_not_given_a_result_by_hand(agent: Agent) -> None:
    gate = {"id": "gate", "objective": "o", "gate": "Go?", "depends_on": ["look"]}
    waiting = ended(agent, plan(3, gate, {**step("pay", "pay", n=1), "when": ABOVE}))
    assert waiting.step_status["pay"] == "skipped"

    with pytest.raises(InputError, match="skipped by its condition"):
        agent.supply(waiting.id, "pay", "paid")


def test_the_review_says_what_decides_about_an_effect(agent: Agent) -> None:
    pays = {**step("pay", "pay", n=1), "when": ABOVE}
    later = step("later", "pay", n="{pay_result}")

    request = agent.start("g", plan=plan(9, pays, later)).request

    assert request is not None
    said = " ".join(request["action_requests"][0]["description"].split())
    assert "only if @ > `5` of {look_result.n}" in said
    assert said.count("whether it runs depends on values from look, which are not declared to be trusted") == 2
    steps = {one["id"]: one for one in request["review"]["actions"][0]["steps"]}
    assert (steps["pay"]["when"], steps["pay"]["decided_by"]) == ("@ > `5` of {look_result.n}", ["look"])
