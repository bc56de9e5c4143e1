"""A run goes on under the terms that it was begun under, whoever takes it up: they only tighten in other hands."""

from pathlib import Path
from typing import Any

import pytest

from planner_executor import Agent, Person
from planner_executor.graph.errors import InputError, OtherTermsError
from planner_executor.graph.runs.run import Run
from planner_executor.graph.testing import LoggedTools, ScriptedModel, step

PLAN = {"steps": [step("pay", "pay", amount=5)]}
TWO = {"steps": [step("one", "pay", amount=1), step("two", "pay", amount=2, after=["one"])]}
ADA_DECIDES = {"approvers": {"names": ["ada"]}}
DECLARED: dict[str, Any] = {"effect": "external", "trusted": True, "reads": ["/accounts"]}
ADA, BOB = Person("ada", proof="ok"), Person("bob", proof="ok")


def known(person: Person | None) -> Person | None:
    """Verify whoever is named."""
    return person


class House:
    """Agents over one database, with the tool `pay` unless they have others."""

    def __init__(self, database: str, tools: LoggedTools) -> None:
        self.database, self.tools = database, tools

    def agent(self, *answers: Any, **options: Any) -> Agent:
        given = {"planner": ScriptedModel(answers), "identity": known, "tools": [self.tool("pay")], **options}
        return Agent.open(self.database, **given)

    def tool(self, name: str, **metadata: Any) -> Any:
        return self.tools.tool(name, lambda **args: args, **{**DECLARED, **metadata})

    def begun(self, plan: Any = PLAN, **options: Any) -> Run:
        with self.agent(**options) as agent:
            return agent.start("g", plan=plan)


@pytest.fixture
def house(database: str, tools: LoggedTools) -> House:
    return House(database, tools)


def test_who_may_not_decide_may_not_in_a_process_without_the_policy_either(house: House) -> None:
    run = house.begun(policy=ADA_DECIDES)

    with house.agent() as agent:
        for _ in range(3):
            asked = agent.resume(run.id, "approve", by=BOB)
            assert asked.status == "waiting" and "ada" in asked.request["error"]
        assert house.tools.calls == []
        assert agent.resume(run.id, "approve", by=ADA).status == "succeeded"


def test_a_hard_limit_is_not_lifted_in_a_process_without_the_policy(house: House) -> None:
    run = house.begun(TWO, policy={"limits": {"tool_calls": 1}})

    with house.agent() as agent:
        short = agent.resume(run.id, "approve")
        raised = agent.resume(run.id, short.decide(limits={"tool_calls": 9}))
        assert raised.status == "waiting" and "tool_calls" in raised.request["error"]
        ended = agent.resume(run.id, raised.decide(finish=True))
        with pytest.raises(InputError) as refused:
            agent.retry(run.id, limits={"tool_calls": 9})

    assert ended.status == "budget_exhausted" and "tool_calls" in str(refused.value)
    assert len(house.tools.calls) == 1


def test_a_run_that_is_never_replanned_is_not_in_other_hands(house: House) -> None:
    failing = house.tools.tool("pay", lambda **_: 1 / 0, effect="read", trusted=True)
    run = house.begun(replan="never", tools=[failing])
    model = ScriptedModel([])

    with house.agent(planner=model, tools=[failing]) as agent:
        agent.resume(run.id, "approve")
        retried = agent.retry(run.id)

    assert retried.status == "failed" and model.prompts == []


def test_other_tools_here_are_kept_from_a_run_that_was_begun_without_them(house: House) -> None:
    run = house.begun()
    model = ScriptedModel([{"steps": [step("s", "steal")]}, {"steps": [step("s", "steal")]}])

    with house.agent(planner=model, tools=[house.tool("pay"), house.tool("steal")]) as agent:
        assert agent.compare_terms(run.id).sentence.endswith("begun without steal")
        agent.resume(run.id, "take another way")

    assert "steal, for tests" not in str(model.prompts) and house.tools.calls == []


STRICTER: dict[str, dict[str, Any]] = {
    "a policy": {"policy": {"effects": {"external": "review"}}},
    "a budget": {"budget": {"tool_calls": 1}},
    "a mode": {"approval": "always"},
}


@pytest.mark.parametrize("term", STRICTER)
def test_stricter_terms_hold_from_now_on_and_the_plan_is_shown_again(house: House, term: str) -> None:
    run = house.begun(approval="side_effects")

    with house.agent(**STRICTER[term]) as agent:
        assert agent.compare_terms(run.id).sentence.startswith("stricter here, and holds from now on: ")
        again = agent.resume(run.id, "approve")
        assert again.status == "waiting" and "stricter" in again.request["error"] and house.tools.calls == []
    with house.agent(approval="side_effects") as agent:
        assert agent.compare_terms(run.id).sentence.startswith("weaker here, so that the terms on record hold: ")
        assert agent.resume(run.id, "approve").status == "succeeded"
        assert [event.kind for event in agent.log(run.id)].count("configured") == 1
        assert agent.replay(run.id).is_same, str(agent.replay(run.id))


def test_of_two_policies_that_are_each_stricter_in_a_point_both_hold(house: House) -> None:
    run = house.begun(policy=ADA_DECIDES)

    with house.agent(policy={"tools": {"pay": {"args": {"amount": {"maximum": 3}}}}}) as agent:
        assert "ada" in agent.resume(run.id, "approve", by=BOB).request["action_requests"][0]["description"]
        again = agent.resume(run.id, "approve", by=ADA)

    assert again.status == "waiting" and "forbids this value" in str(again.request["issues"]) and not house.tools.calls


OTHER: dict[str, dict[str, Any]] = {
    "needs pay": {"tools": []},
    "pay has changed": {"tools": ["changed"]},
    "reads /accounts on record, here /elsewhere": {"tools": ["reads elsewhere"]},
    "role planner: needs scripted, here is offline": {"planner": "offline"},
    "instructions": {"instructions": {"planner": "be brief"}},
    "both cannot hold: approvers are others": {"policy": {"approvers": {"names": ["cleo"]}}},
}


def other(house: House, why: str) -> dict[str, Any]:
    given = dict(OTHER[why])
    if given.get("tools") == ["changed"]:
        given["tools"] = [house.tool("pay", idempotent=True)]
    if given.get("tools") == ["reads elsewhere"]:
        given["tools"] = [house.tool("pay", reads=["/elsewhere"])]
    return given


@pytest.mark.parametrize("why", [why for why in OTHER if why != "needs pay"])
def test_a_run_under_other_terms_is_left_by_every_way_of_going_on(house: House, why: str) -> None:
    run = house.begun(policy=ADA_DECIDES)
    told: list[str] = []

    with house.agent(**other(house, why)) as agent:
        before = len(agent.log(run.id))
        ways = [
            lambda: agent.compare_terms(run.id),
            lambda: agent.resume(run.id),
            lambda: agent.resume(run.id, "approve", by=ADA),
            lambda: agent.edit(run.id, TWO),
            lambda: agent.steer(run.id, add=["be careful"]),
            lambda: agent.fork(run.id, "pay"),
        ]
        for way in ways:
            with pytest.raises(OtherTermsError) as left:
                way()
            told.append(str(left.value))
        assert len(agent.log(run.id)) == before

    assert all(why in text and "--take-over" in text for text in told) and house.tools.calls == []


def test_a_retry_under_other_terms_is_left(house: House) -> None:
    run = house.begun()
    with house.agent() as agent:
        agent.cancel(run.id)

    with house.agent(planner="offline") as agent, pytest.raises(OtherTermsError):
        agent.retry(run.id)


def test_without_rules_whoever_has_the_database_takes_a_run_over(house: House) -> None:
    run = house.begun(policy={"limits": {"tool_calls": 1}})

    with house.agent(planner="offline") as agent:
        taken = agent.resume(run.id, take_over=True)
        assert taken.status == "waiting" and agent.compare_terms(run.id).sentence == ""
        assert "was taken over by os:" in str(agent.audit(run.id))
        assert agent.resume(run.id, "approve").status == "waiting"  # the limit was part of what was shown
        assert agent.resume(run.id, "approve").status == "succeeded"
        assert agent.replay(run.id).is_same


def test_those_who_decide_about_every_tool_left_take_a_run_over_and_nobody_else(house: House) -> None:
    run = house.begun(policy={"approvers": {"tools": {"pay": {"names": ["ada"], "four_eyes": True}}}})

    with house.agent() as agent:
        for _ in range(2):
            with pytest.raises(InputError, match="ada"):
                agent.resume(run.id, "approve", take_over=True, by=BOB)
        kinds = [event.kind for event in agent.log(run.id)]
        assert kinds.count("take_over_asked") == 1 and "configured" not in kinds
        assert agent.resume(run.id, take_over=True, by=ADA).status == "waiting"
        assert agent.resume(run.id, "approve", by=BOB).status in ("waiting", "succeeded")


def test_two_of_a_quorum_have_to_ask_for_the_same_terms(house: House) -> None:
    run = house.begun(policy={"approvers": {"names": ["ada", "bob"], "quorum": 2}})

    with house.agent() as agent, pytest.raises(InputError, match="1 of 2"):
        agent.resume(run.id, take_over=True, by=ADA)
    with house.agent(planner="offline") as agent, pytest.raises(InputError, match="1 of 2"):
        agent.resume(run.id, take_over=True, by=BOB)
    with house.agent() as agent:
        agent.resume(run.id, take_over=True, by=BOB)
        assert agent.compare_terms(run.id).sentence == ""


PAY_BY_ITSELF = {"approvers": {"calls": {"tools": {"pay": {"names": ["ada"]}}}}}
ABOVE_A_DOLLAR = {
    "approvers": {"cost": [{"above_usd": 1, "names": ["ada"]}]},
    "limits": {"cost_usd": 1},
    "prices": {"scripted": {"input": 1, "output": 1}},
}
EXTERNAL = {"approvers": {"effects": {"external": {"names": ["ada"]}}}}
REACHED = {"a rule on calls": PAY_BY_ITSELF, "a cost that is lifted": ABOVE_A_DOLLAR, "an effect here": EXTERNAL}


@pytest.mark.parametrize("rules", REACHED)
def test_taking_over_is_decided_under_every_rule_that_it_would_end(house: House, rules: str) -> None:
    effect = "write" if rules == "an effect here" else "external"
    run = house.begun(policy=REACHED[rules], tools=[house.tool("pay", effect=effect)])

    with house.agent(planner="offline") as agent:
        with pytest.raises(InputError, match="ada"):
            agent.resume(run.id, take_over=True, by=BOB)
        assert agent.resume(run.id, take_over=True, by=ADA).status == "waiting"
        assert agent.compare_terms(run.id).sentence == ""


def test_whoever_gave_a_value_does_not_take_over_the_call_that_takes_four_eyes(house: House) -> None:
    plan = {"steps": [step("price", "pay", amount=1), step("then", "pay", after=["price"], amount="{price_result}")]}
    run = house.begun(plan, policy={"approvers": {"four_eyes": True, "names": ["ada", "bob", "cleo"]}})

    with house.agent() as agent:
        agent.supply(run.id, "price", 7, by=ADA)
        for person in (BOB, ADA):
            with pytest.raises(InputError, match="0 of 1"):
                agent.resume(run.id, take_over=True, by=person)
        agent.resume(run.id, take_over=True, by=Person("cleo", proof="ok"))
        assert agent.compare_terms(run.id).sentence == ""


def test_a_fork_is_under_the_terms_of_its_source(house: House) -> None:
    run = house.begun(policy=ADA_DECIDES)

    with house.agent() as agent:
        fork = agent.fork(run.id, "pay")
        assert "ada" in agent.resume(fork.id, "approve", by=BOB).request["error"] and house.tools.calls == []


def test_the_policy_is_stored_once_however_many_runs_are_under_it(tmp_path: Path, tools: LoggedTools) -> None:
    file = tmp_path / "runs.db"
    house = House(str(file), tools)
    policy = {"tools": {"pay": {"args": {"amount": {"one_of": [f"{n:06}" for n in range(2_000)]}}}}}
    sizes = []
    with house.agent(policy=policy) as agent:
        for _ in range(3):
            run = agent.start("g", plan={"steps": [], "answer": "nothing"})
            sizes.append(len(str([event.payload for event in agent.log(run.id)])))

    assert max(sizes) < 10_000 and file.stat().st_size < 1_000_000


async def test_a_run_of_a_compiled_graph_is_compared_too(house: House) -> None:
    from planner_executor import AsyncAgent

    async with AsyncAgent.open(house.database, planner=ScriptedModel([PLAN]), tools=[house.tool("pay")]) as agent:
        config: Any = {"configurable": {"thread_id": "t"}}
        await agent.graph.ainvoke({"goal": "g"}, config)
    async with AsyncAgent.open(house.database, planner="offline", tools=[house.tool("pay")]) as agent:
        for given in (None, {"operation": "continue", "run": "t.1"}):
            with pytest.raises(OtherTermsError, match="role planner"):
                await agent.graph.ainvoke(given, config)
        await agent.cancel("t.1")
        before = len(await agent.log("t.1"))
        with pytest.raises(OtherTermsError, match="role planner"):
            await agent.graph.ainvoke({"operation": "retry"}, config)
        assert len(await agent.log("t.1")) == before
