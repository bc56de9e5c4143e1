"""Ways round the rules on people that were tried from outside: each asks the people whom the rule names."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from time import time
from typing import Any

import pytest

from planner_executor import Agent, Person
from planner_executor.graph.runs.run import Run
from planner_executor.graph.testing import LoggedTools, ScriptedModel, step

ADA, BOB = (Person(f"{name}@example.org", ["finance"], proof="token") for name in ("ada", "bob"))
EVE, CLEO = (Person(f"{name}@example.org", ["guest"], proof="token") for name in ("eve", "cleo"))
NAMES = {"tools": {"pay": {"names": ["ada@example.org"]}}}
EYES = {"tools": {"pay": {"roles": ["finance"], "four_eyes": True}}}
APPROVE = {"type": "approve"}
LOOK = step("a", "look", at="x")
QUESTION = {"id": "q", "objective": "know the amount", "ask": "How much?", "depends_on": ["a"]}
ASKS = {"steps": [LOOK, QUESTION, step("p", "pay", to="ann", amount="{q_result}")]}
PAYS = {"steps": [LOOK, step("p", "pay", after=["a"], to="ann", amount=9)]}


def verified(by: Person | None) -> Person | None:
    """Stand in for the token check of a service."""
    return by if by is not None and by.proof == "token" else None


@pytest.fixture
def agent(database: str, tools: LoggedTools) -> Iterator[Callable[..., Agent]]:
    opened: list[Agent] = []
    own = [
        tools.tool("pay", effect="external", trusted=True),
        tools.tool("look", lambda **_: 40, effect="read", trusted=True),
        tools.tool("see", effect="read", trusted=True),
    ]

    def made(approvers: Any, *plans: Any, approval: Any = "always", budget: Any = None, **policy: Any) -> Agent:
        given = {"budget": budget} if budget else {}
        opened.append(
            Agent.open(
                database,
                planner=ScriptedModel(plans),
                tools=own,
                policy={"approvers": approvers, **policy},
                identity=verified,
                approval=approval,
                **given,
            )
        )
        return opened[-1]

    yield made
    for one in opened:
        one.close()


def asks(run: Run) -> list[str]:
    return [str(action["name"]) for action in run.request["action_requests"]] if run.request else []


def answered(name: str, **given: Any) -> dict[str, Any]:
    return {"type": "edit", "edited_action": {"name": name, "args": given}}


def test_whoever_asked_for_a_run_asked_for_its_forks(agent: Callable[..., Agent], tools: LoggedTools) -> None:
    one = agent(EYES)
    asked = one.start("g", plan=PAYS, by=ADA)
    run = one.fork(asked.id, "a", by=EVE)

    run = one.resume(run.id, APPROVE, by=ADA)

    assert run.status == "waiting" and tools.named("pay") == []
    run = one.resume(run.id, APPROVE, by=BOB)
    assert run.status == "succeeded" and len(tools.named("pay")) == 1
    assert one.replay(run.id).is_same


def test_whoever_gave_a_value_that_a_fork_inherits_asked_for_its_payment(
    agent: Callable[..., Agent], tools: LoggedTools
) -> None:
    one = agent(EYES)
    run = one.resume(one.start("g", plan=ASKS, by=EVE).id, APPROVE, by=BOB)
    one.supply(run.id, "q", 4000, by=ADA)
    fork = one.fork(run.id, "p", by=EVE)

    fork = one.resume(fork.id, APPROVE, by=ADA)

    assert fork.status == "waiting" and tools.named("pay") == []
    assert one.resume(fork.id, APPROVE, by=BOB).status == "succeeded"
    assert tools.named("pay") == [{"to": "ann", "amount": 4000}]


def test_a_value_is_as_little_decided_in_a_fork_and_in_the_fork_of_a_fork(
    agent: Callable[..., Agent], tools: LoggedTools
) -> None:
    one = agent(NAMES, approval="never")
    run = one.start("g", plan=ASKS, by=EVE)
    run = one.resume(run.id, answered("answer_question", answer=4000), by=EVE)

    for _ in range(3):
        assert asks(run) == ["run_step"] and tools.named("pay") == []
        assert "4000" in run.request["action_requests"][0]["description"]  # type: ignore[index]
        run = one.fork(run.id, "p", by=EVE)

    assert one.resume(run.id, APPROVE, by=ADA).status == "succeeded" and len(tools.named("pay")) == 1


def test_a_question_that_a_fork_asks_anew_rests_on_no_earlier_answer(
    agent: Callable[..., Agent], tools: LoggedTools
) -> None:
    one = agent(NAMES, approval="never")
    run = one.start("g", plan=ASKS, by=EVE)
    run = one.fork(one.resume(run.id, answered("answer_question", answer=4000), by=EVE).id, "q", by=EVE)

    run = one.resume(run.id, answered("answer_question", answer=40), by=ADA)

    assert run.status == "succeeded" and tools.named("pay") == [{"to": "ann", "amount": 40}]


def test_a_call_that_is_approved_beside_a_raised_limit_is_shown_to_those_who_decide_about_the_plan(
    agent: Callable[..., Agent], tools: LoggedTools
) -> None:
    rules = {**NAMES, "calls": {"roles": ["guest", "finance"]}}
    one = agent(rules, budget={"tool_calls": 1}, tools={"pay": {"verdict": "ask"}})
    plan = {"steps": [step("p", "pay", to="ann", amount=9), LOOK, step("b", "look", after=["a"], at="y")]}
    run = one.resume(one.start("g", plan=plan, by=EVE).id, {**APPROVE, "ask_later": ["p"]}, by=ADA)
    assert asks(run) == ["run_step", "raise_budget"]

    both = {"decisions": [APPROVE, answered("raise_budget", budget={"tool_calls": 9})]}
    run = one.resume(run.id, both, by=EVE)

    assert asks(run) == ["run_step"] and tools.named("pay") == []
    assert one.resume(run.id, APPROVE, by=EVE).status == "waiting" and tools.named("pay") == []
    assert one.resume(run.id, APPROVE, by=ADA).status == "succeeded" and len(tools.named("pay")) == 1


EDITED = {"steps": [LOOK, QUESTION, PAYS["steps"][1]]}
PAID_AT_ONCE = [step("p", "pay", to="eve", amount=9)]


def fails(agent: Agent, by: Person) -> Run:
    """Return a run that has failed for want of a result."""
    return agent.start("g", plan={"steps": [LOOK, step("b", "look", after=["a"], at="{a_result.none}")]}, by=by)


DOORS: dict[str, Callable[[Agent], Run]] = {
    "edit": lambda one: one.edit(one.start("g", plan={"steps": [LOOK, QUESTION]}, by=ADA).id, EDITED, by=EVE),
    "retry": lambda one: one.retry(fails(one, ADA).id, plan=PAYS, by=EVE),
}


@pytest.mark.parametrize("door", DOORS)
def test_a_plan_that_is_edited_beside_a_review_is_put_to_those_who_decide_about_it_in_every_mode(
    agent: Callable[..., Agent], tools: LoggedTools, door: str
) -> None:
    one = agent(NAMES, approval="never")

    run = DOORS[door](one)

    assert asks(run)[0] == "run_plan" and tools.named("pay") == []
    answers = [answered(name, answer=4) if name == "answer_question" else APPROVE for name in asks(run)]
    assert one.resume(run.id, {"decisions": answers}, by=EVE).status == "waiting" and tools.named("pay") == []
    assert one.resume(run.id, {"decisions": answers}, by=ADA).status == "succeeded" and len(tools.named("pay")) == 1


REFINED = {"steps": [{"id": "r", "objective": "pay eve", "refine": True}]}
AGREES: dict[str, Callable[[Agent, Person], Run]] = {
    "an edit in the review": lambda one, by: one.resume(
        one.start("g", plan={"steps": [step("b", "see", at="x")]}, by=CLEO).id,
        {"decisions": [answered("run_plan", plan=REFINED)]},
        by=by,
    ),
    "an edit beside a review": lambda one, by: one.edit(
        one.start("g", plan={"steps": [LOOK, QUESTION]}, by=CLEO).id, REFINED, by=by
    ),
    "a retry": lambda one, by: one.retry(
        one.cancel(one.start("g", plan={"steps": [LOOK, QUESTION]}, by=CLEO).id).id, plan=REFINED, by=by
    ),
}
HELD_FROM: dict[str, tuple[dict[str, Any], Person]] = {
    "names": (NAMES, EVE),
    "a name that is claimed": (NAMES, Person(ADA.name)),
    "four eyes": (EYES, ADA),
    "a quorum": ({"tools": {"pay": {"names": [ADA.name, BOB.name], "quorum": 2}}}, ADA),
}


@pytest.mark.parametrize("door", AGREES)
@pytest.mark.parametrize("rules", HELD_FROM)
def test_what_a_model_makes_of_an_edited_plan_is_put_to_those_who_decide_about_it(
    agent: Callable[..., Agent], tools: LoggedTools, door: str, rules: str
) -> None:
    approvers, editor = HELD_FROM[rules]
    one = agent(approvers, {"steps": PAID_AT_ONCE}, approval="never", tools={"see": {"verdict": "review"}})

    run = AGREES[door](one, editor)

    assert asks(run) == ["run_step"] and "an edited plan" in run.request["action_requests"][0]["description"]
    assert one.resume(run.id, APPROVE, by=EVE).status == "waiting" and tools.named("pay") == []
    assert one.replay(run.id).is_same


@pytest.mark.parametrize("door", AGREES)
def test_what_a_model_makes_of_a_plan_of_somebody_who_decides_about_it_asks_nobody(
    agent: Callable[..., Agent], tools: LoggedTools, door: str
) -> None:
    one = agent(NAMES, {"steps": PAID_AT_ONCE}, approval="never", tools={"see": {"verdict": "review"}})

    run = AGREES[door](one, ADA)

    assert run.status == "succeeded" and len(tools.named("pay")) == 1
    assert one.replay(run.id).is_same


BELOW = {
    "put together": [
        {"id": "g", "objective": "o", "gather": {"x": "{q_result}"}},
        step("p", "pay", to="ann", amount="{g_result.x}"),
    ],
    "each of a list": [{**step("p", "pay", to="ann", amount="{item_result}"), "for_each": "{q_result}"}],
    "by way of a tool": [step("b", "look", at="{q_result}"), step("p", "pay", to="ann", amount="{b_result}")],
    "after it": [step("p", "pay", after=["q"], to="ann", amount=1)],
    "planned after it": [{"id": "r", "objective": "o", "refine": True, "tools": ["pay"], "depends_on": ["q"]}],
}


@pytest.mark.parametrize("mode", ["always", "side_effects", "never"])
@pytest.mark.parametrize("way", BELOW)
def test_an_answer_reaches_a_payment_by_every_way(
    agent: Callable[..., Agent], tools: LoggedTools, way: str, mode: str
) -> None:
    one = agent(NAMES, {"steps": PAID_AT_ONCE}, approval=mode)
    run = one.start("g", plan={"steps": [LOOK, QUESTION, *BELOW[way]]}, by=EVE)
    run = one.resume(run.id, APPROVE, by=ADA) if asks(run) == ["run_plan"] else run

    run = one.resume(run.id, answered("answer_question", answer=[4]), by=EVE)

    assert len(asks(run)) == 1 and tools.named("pay") == []
    assert one.resume(run.id, APPROVE, by=EVE).status == "waiting" and tools.named("pay") == []


LATER = {**APPROVE, "ask_later": ["p"]}


@pytest.mark.parametrize("name", ["\uff21da@example.org", "os:ada@example.org", "\u0430da@example.org", BOB.name])
def test_a_standing_approval_covers_the_runs_of_nobody_whose_name_looks_alike(
    agent: Callable[..., Agent], tools: LoggedTools, name: str
) -> None:
    one = agent({}, tools={"pay": {"verdict": "ask"}})
    standing = {"at_most": 9, "until": datetime.fromtimestamp(time() + 9_000, UTC).isoformat()}
    run = one.resume(one.start("g", plan=PAYS, by=ADA).id, LATER, by=ADA)
    assert one.resume(run.id, {**APPROVE, "standing": standing}, by=ADA).status == "succeeded"
    other = Person(name, ["finance"], proof="token")

    run = one.resume(one.start("g", plan=PAYS, by=other).id, LATER, by=other)

    assert asks(run) == ["run_step"] and len(tools.named("pay")) == 1
