"""The policies of the section "Who approves what" does what the page says."""

import re
import time
import tomllib
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from planner_executor import Agent, Person
from planner_executor.graph.errors import NothingToDecideError
from planner_executor.graph.ledger.sqlite.ledger import SqliteLedger
from planner_executor.graph.testing import LoggedTools, ScriptedModel, step

PAGE = (Path(__file__).parents[2] / "docs" / "policy.md").read_text().partition("\n## Who approves what\n")[2]
ADA, BOB = (Person(f"{name}@example.org", ["staff", "accounts"], proof=True) for name in ("ada", "bob"))
EVE = Person("eve@example.org", ["staff"], proof=True)
APPROVE = {"type": "approve"}
NO_ANSWER = 13
"""The amount of a payment which it is not known to have been made."""
MAIL = {"steps": [step("m", "mail", to="x@example.org")]}


@pytest.fixture(params=[0])
def agent(request: pytest.FixtureRequest, tmp_path: Path, tools: LoggedTools) -> Iterator[Agent]:
    """An agent under one of the policies of the page, the first unless a test says otherwise."""
    policy = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)[request.param]
    own = [
        tools.tool("pay", paid, effect="external", trusted=True),
        tools.tool("mail", effect="external", trusted=True),
        tools.tool("fetch_invoices", lambda: [1, 200], effect="external", trusted=True),
    ]
    prices = {"scripted": {"input": 1, "output": 1}}
    with Agent.open(
        tmp_path / "runs.db",
        planner=ScriptedModel([]),
        tools=own,
        policy={**tomllib.loads(policy), "prices": prices},
        identity=lambda by: by if by is not None and by.proof else None,
    ) as opened:
        yield opened


def paid(amount: float, **_: Any) -> str:
    if amount == NO_ANSWER:
        raise TimeoutError("no answer within 5 s")
    return "receipt"


def pays(*amounts: float) -> dict[str, Any]:
    steps = []
    for at, amount in enumerate(amounts):
        steps.append(step(f"p{at}", "pay", after=[f"p{at - 1}"] if at else [], to="ann", amount=amount))
    return {"steps": steps}


def asked(run: Any) -> list[str]:
    return [action["name"] for action in run.request["action_requests"]] if run.request else []


def test_nobody_is_asked_to_fetch_invoices_and_accounts_to_pay(agent: Agent, tools: LoggedTools) -> None:
    assert agent.start("g", plan={"steps": [step("f", "fetch_invoices")]}, by=ADA).status == "succeeded"
    run = agent.start("g", plan=pays(50, 400), by=ADA)

    for by in (ADA, EVE):
        assert asked(agent.resume(run.id, APPROVE, by=by)) == ["run_plan"] and tools.named("pay") == []
    assert agent.resume(run.id, APPROVE, by=BOB).status == "succeeded"
    assert [call["amount"] for call in tools.named("pay")] == [50, 400]


def test_a_payment_that_is_not_known_yet_or_left_out_is_shown_to_accounts_when_it_is_due(
    agent: Agent, tools: LoggedTools
) -> None:
    look = step("f", "fetch_invoices")
    of_result = {"steps": [look, step("p", "pay", to="ann", amount="{f_result[1]}")]}
    for plan, answer in (pays(50, 400), {**APPROVE, "ask_later": ["p1"]}), (of_result, APPROVE):
        tools.calls.clear()
        run = agent.start("g", plan=plan, by=ADA)
        run = agent.resume(run.id, answer, by=BOB)

        assert asked(run) == ["run_step"] and {call["amount"] for call in tools.named("pay")} <= {50}
        assert asked(agent.resume(run.id, APPROVE, by=ADA)) == ["run_step"]
        assert agent.resume(run.id, APPROVE, by=BOB).status == "succeeded"


def test_no_payment_is_made_beyond_the_bound_and_each_mail_is_shown(agent: Agent, tools: LoggedTools) -> None:
    assert agent.start("g", plan=pays(5001), by=ADA).status == "failed"
    to_each = {"steps": [step("f", "fetch_invoices"), step("m", "mail", to="{f_result[0]}")]}
    for plan, stops in (MAIL, []), (to_each, ["run_step"]):
        tools.calls.clear()
        run = agent.start("g", plan=plan, by=ADA)
        assert asked(run) == ["run_plan"]
        run = agent.resume(run.id, APPROVE, by=EVE)

        assert asked(run) == stops and len(tools.named("mail")) == (not stops)
    assert agent.resume(run.id, APPROVE, by=ADA).status == "succeeded"


def test_further_payments_are_approved_ahead_by_who_did_not_ask(agent: Agent, tools: LoggedTools) -> None:
    later = {**APPROVE, "ask_later": ["p0", "p1", "p2"]}
    run = agent.resume(agent.start("g", plan=pays(400, 450, 480), by=ADA).id, later, by=BOB)
    standing = {"at_most": 5, "args": {"amount": {"below": 500}}}

    assert asked(agent.resume(run.id, {**APPROVE, "standing": standing}, by=ADA)) == ["run_step"]
    assert agent.resume(run.id, {**APPROVE, "standing": standing}, by=BOB).status == "succeeded"
    assert len(tools.named("pay")) == 3


@pytest.mark.parametrize(
    ("by", "stops"),
    [
        (BOB, ["run_plan", "answer_question"]),
        (EVE, ["run_plan", "answer_question", "run_step"]),
        (ADA, ["run_plan", "answer_question", "run_step"]),
    ],
    ids=["accounts", "the staff", "who asked"],
)
def test_an_answer_of_accounts_adds_no_stop_and_the_payment_on_any_other_is_shown_to_accounts(
    agent: Agent, tools: LoggedTools, by: Person, stops: list[str]
) -> None:
    question = {"id": "q", "objective": "o", "ask": "How much?", "depends_on": ["f"]}
    pay = step("p", "pay", to="ann", amount="{q_result}")
    run, seen = agent.start("g", plan={"steps": [step("f", "fetch_invoices"), question, pay]}, by=ADA), []

    while run.request is not None and len(seen) < 9:
        (name,) = asked(run)
        seen.append(name)
        gives = {"type": "edit", "edited_action": {"name": name, "args": {"answer": 30}}}
        answers = name == "answer_question"
        run = agent.resume(run.id, gives if answers else APPROVE, by=by if answers else BOB)

    assert (run.status, seen) == ("succeeded", stops) and [call["amount"] for call in tools.named("pay")] == [30]


def test_after_a_day_the_boss_decides_too_and_after_two_days_nobody(
    agent: Agent, tools: LoggedTools, monkeypatch: pytest.MonkeyPatch
) -> None:
    boss = Person("cy@example.org", ["boss"], proof=True)
    first, second = (agent.start("g", plan=pays(30), by=ADA) for _ in range(2))
    assert [row.run for row in agent.inbox(BOB)] == [first.id, second.id] and not agent.inbox(ADA)
    assert asked(agent.resume(first.id, APPROVE, by=boss)) == ["run_plan"] and not agent.inbox(boss)

    monkeypatch.setattr(SqliteLedger, "now", days_later(1.2))
    assert [row.run for row in agent.inbox(boss)] == [first.id, second.id]
    assert agent.resume(first.id, APPROVE, by=boss).status == "succeeded"
    monkeypatch.setattr(SqliteLedger, "now", days_later(2.1))
    with pytest.raises(NothingToDecideError, match="too late"):
        agent.resume(second.id, APPROVE, by=boss)
    assert len(tools.named("pay")) == 1 and agent.show(second.id).status == "rejected"


ON_CALLS = pytest.mark.parametrize("agent", [1], indirect=True)


@ON_CALLS
def test_anybody_approves_plans_and_answers_and_ada_the_payments_that_are_shown(
    agent: Agent, tools: LoggedTools
) -> None:
    question = {"id": "q", "objective": "o", "ask": "How much?", "depends_on": ["p0"]}
    plan = {"steps": [*pays(30)["steps"], question, step("p", "pay", to="ann", amount="{q_result}")]}
    run = agent.resume(agent.start("g", plan=plan, by=BOB).id, APPROVE, by=EVE)
    assert asked(run) == ["answer_question"] and [call["amount"] for call in tools.named("pay")] == [30]

    answer = {"type": "edit", "edited_action": {"name": "answer_question", "args": {"answer": 60}}}
    run = agent.resume(run.id, answer, by=EVE)

    for by in (EVE, BOB):
        run = agent.resume(run.id, APPROVE, by=by)
        assert asked(run) == ["run_step"] and "ada@example.org" in str(run.refused)
    assert agent.resume(run.id, APPROVE, by=ADA).status == "succeeded"
    assert [call["amount"] for call in tools.named("pay")] == [30, 60]


@ON_CALLS
def test_ada_says_whether_a_payment_was_made_that_may_have_been(agent: Agent, tools: LoggedTools) -> None:
    run = agent.start("g", plan=pays(NO_ANSWER), by=BOB)
    for _ in range(2):  # the second time since the plan has failed
        assert asked(run) == ["run_plan"]
        run = agent.resume(run.id, APPROVE, by=EVE)
    settled = {"type": "edit", "edited_action": {"name": "settle_effect", "args": {"happened": True, "result": "ok"}}}
    made = {"decisions": [settled if name == "settle_effect" else APPROVE for name in asked(run)]}
    assert "settle_effect" in asked(run)

    for by in (EVE, BOB):
        run = agent.resume(run.id, made, by=by)
        assert "settle_effect" in asked(run) and "ada@example.org" in str(run.refused)
    assert agent.resume(run.id, made, by=ADA).status == "succeeded"
    assert len(tools.named("pay")) == 1


def days_later(days: float) -> Callable[[SqliteLedger], Awaitable[float]]:
    async def now(_: SqliteLedger) -> float:
        return time.time() + days * 86_400

    return now
