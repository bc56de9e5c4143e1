"""A playbook that people approve once, for runs with other values."""

import asyncio
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from planner_executor import Agent, AsyncAgent, Person, Playbook
from planner_executor.graph.errors import InputError
from planner_executor.graph.record.standing_approval import StandingUse
from planner_executor.graph.settings.identity import acting
from planner_executor.graph.testing import LoggedTools, ScriptedModel, step

MAIL = step("mail", "mail", after=["bill"], to="{param.to}", text="{bill_result.n}")
ONBOARDING = Playbook.of(
    {
        "name": "onboarding",
        "version": 1,
        "description": "Onboard {param.to}",
        "parameters": {"to": {"type": "string"}, "amount": {"type": "integer"}},
        "steps": [
            {**step("bill", "bill", to="{param.to}", n="{item_result}"), "for_each": ["{param.amount}", 1]},
            {**MAIL, "args": {"to": "{param.to}", "text": "{bill_result[0].n}"}},
            {**step("call", "mail", to="sales"), "when": {"of": "{param.amount}", "condition": "@ > `90`"}},
        ],
    }
)
TO_TEN: dict[str, Any] = {"params": {"to": {}, "amount": {"below": 100}}, "at_most": 10}
ASKS: dict[str, Any] = {"tools": {"mail": {"verdict": "ask"}}}


@pytest.fixture
def agent(tmp_path: Path, tools: LoggedTools) -> Iterator[Agent]:
    with opened(tmp_path, tools) as found:
        yield found


def opened(folder: Path, tools: LoggedTools, *given: Any, **options: Any) -> Agent:
    return Agent.open(folder / "runs.db", **options_of(tools, *given, **options))


def options_of(tools: LoggedTools, trusted: bool = True, bill: Any = dict, **options: Any) -> dict[str, Any]:
    own = [
        tools.tool("bill", bill, effect="external", trusted=trusted),
        tools.tool("mail", effect="external", trusted=trusted),
        tools.tool("web", lambda: "evil@b", effect="read", trusted=False),
    ]
    return {"policy": ASKS, "planner": ScriptedModel([]), "tools": own, "replan": "never", **options}


def asked(agent: Agent, to: str = "ann", amount: int = 10, playbook: Playbook = ONBOARDING, **more: Any) -> Any:
    return agent.start(playbook=playbook, params={"to": to, "amount": amount}, **more)


def approve(agent: Agent, run: Any, wish: dict[str, Any] = TO_TEN, **more: Any) -> Any:
    return agent.resume(run.id, {"type": "approve", "standing": wish}, **more)


def only(agent: Agent) -> StandingUse:
    (use,) = agent.approvals()
    return use


def test_approved_once_for_ten_customers_it_asks_the_eleventh_time(agent: Agent, tools: LoggedTools) -> None:
    first = approve(agent, asked(agent))
    assert agent.resume(first.id, {"type": "approve"}).status == "succeeded"  # its mail, with what came of a result

    runs = [asked(agent, f"c{n}", 91 if n == 3 else n) for n in range(10)]
    eleventh = asked(agent, "c11")

    assert {run.status for run in runs} == {"succeeded"} and eleventh.request is not None
    assert [args["to"] for args in tools.named("mail")].count("sales") == 1
    assert len(tools.named("bill")) == 2 * 11 and only(agent).left == 0
    (given,) = [event.payload for event in agent.log(runs[0].id) if event.kind == "standing_given"]
    assert given["id"] == only(agent).approval.id
    assert runs[0].approved_ahead == [
        f"the plan of playbook onboarding 1 approved ahead by {given['given_by'][0]} (standing approval {given['id']})"
    ]
    assert f"approved by the standing approval {given['id']}" in str(agent.audit(runs[0].id))
    assert agent.replay(runs[3].id).is_same


@pytest.mark.parametrize(
    "change",
    [
        {"amount": 100},
        {"goal": "Another goal"},
        {"constraints": ["be rude"]},
        {"playbook": replace(ONBOARDING, version=2)},
        {"playbook": replace(ONBOARDING, description="Another description of {param.to}")},
    ],
)
def test_what_is_outside_of_it_is_asked(agent: Agent, change: dict[str, Any]) -> None:
    approve(agent, asked(agent))

    assert asked(agent, **change).request is not None
    assert asked(agent).request is None


def test_a_run_that_a_model_or_a_caller_planned_is_asked_although_its_plan_is_the_same(
    tmp_path: Path, tools: LoggedTools
) -> None:
    plan = ONBOARDING.plan({"to": "ann", "amount": 10})
    look = {"look": [{"tool": "web", "args": {}}]}
    injected = {**plan, "steps": [{**one, "args": {**one["args"], "to": "evil@b"}} for one in plan["steps"]]}
    named = {"playbook": "onboarding", "params": {"to": "evil@b", "amount": 10}}
    for answers in ([plan], [look, injected], [named, named, named]):
        with opened(tmp_path, tools, planner=ScriptedModel(answers), look=["web"]) as agent:
            if not agent.approvals():
                approve(agent, asked(agent))
            called = len(tools.named("mail"))

            found = agent.start("Onboard somebody, as the playbook onboarding does")

            assert found.request is not None or found.status == "failed"
            assert len(tools.named("mail")) == called
    with opened(tmp_path, tools) as agent:
        assert agent.start("Onboard ann", plan=plan).request is not None
        assert asked(agent).request is None


async def test_of_two_runs_at_a_time_one_gets_the_last_place(tmp_path: Path, tools: LoggedTools) -> None:
    with opened(tmp_path, tools) as agent:
        approve(agent, asked(agent), {**TO_TEN, "at_most": 1})
    async with AsyncAgent.open(tmp_path / "runs.db", **options_of(tools)) as together:
        runs = await asyncio.gather(
            *(together.start(playbook=ONBOARDING, params={"to": to, "amount": 1}) for to in "abc")
        )

    assert sorted(run.status for run in runs) == ["succeeded", "waiting", "waiting"]


def test_a_fork_is_not_covered(tmp_path: Path, tools: LoggedTools) -> None:
    with opened(tmp_path, tools) as agent:
        approve(agent, asked(agent), {**TO_TEN, "at_most": 1})
        run = asked(agent)
        assert run.request is None and only(agent).left == 0

        assert agent.fork(run.id, "mail").request is not None


def test_revoked_or_past_its_time_or_under_another_policy_it_covers_nothing(tmp_path: Path, tools: LoggedTools) -> None:
    soon = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3600))
    with opened(tmp_path, tools) as agent:
        approve(agent, asked(agent), {"params": TO_TEN["params"], "until": soon})
        assert asked(agent).request is None and only(agent).approval.at_most == 1_000
    with opened(tmp_path, tools, policy={**ASKS, "limits": {"tool_calls": 50}}) as agent:
        assert asked(agent).request is not None
    with opened(tmp_path, tools, trusted=False) as agent:
        assert asked(agent).request is not None
    with opened(tmp_path, tools) as agent:
        agent.revoke(only(agent).approval.id)
        assert asked(agent).request is not None


def test_a_call_that_is_asked_about_waits_once_the_approval_is_revoked(tmp_path: Path, tools: LoggedTools) -> None:
    with opened(tmp_path, tools) as agent:
        approve(agent, asked(agent))

    def bill(**args: Any) -> Any:
        if args["n"] == 1:
            agent.revoke(only(agent).approval.id)
        return args

    with opened(tmp_path, tools, bill=bill) as agent:
        called = len(tools.named("mail"))
        run = asked(agent)

        assert run.request["action_requests"][0]["name"] == "run_step" and len(tools.named("mail")) == called


@pytest.mark.parametrize(
    ("wish", "fault"),
    [
        ({}, "standing.at_most must be an integer"),
        ({"at_most": 5, "args": {}}, "standing has no args; it has params, at_most, until"),
        ({"at_most": 5, "params": {"amount": {"above": 10}}}, "does not cover the values that were shown"),
        ({"at_most": 5, "params": {"whom": {}}}, "does not cover the values that were shown"),
        ({"at_most": 5, "until": "2999-01-01T00:00:00Z"}, "may be 90 days from now at most"),
    ],
)
def test_a_wish_that_is_not_understood_approves_nothing(
    agent: Agent, tools: LoggedTools, wish: Any, fault: str
) -> None:
    run = approve(agent, asked(agent), wish)

    assert run.request is not None and fault in run.request["error"] and not tools.calls


def test_it_is_given_by_people_who_saw_a_playbook_and_meet_the_rules_of_every_call(
    tmp_path: Path, tools: LoggedTools
) -> None:
    me = str(acting(None))
    rules = {"tools": {"bill": {"names": [me]}}, "calls": {"tools": {"mail": {"roles": ["finance"]}}}}
    with opened(tmp_path, tools, policy={**ASKS, "approvers": rules}) as agent:
        run = approve(agent, asked(agent))
        assert "it is for other runs too, and takes 0 of 1 approval: the role finance" in run.request["error"]
    with opened(tmp_path, tools) as agent:
        run = asked(agent)
        assert "ada is only claimed" in approve(agent, run, by=Person("ada")).request["error"]
        assert "people who have seen the plan" in approve(agent, run, unseen=True).request["error"]
        run = agent.start("g", plan={"steps": [step("bill", "bill", n=1)]})
        assert "not started by the name of a playbook" in approve(agent, run).request["error"]
    assert not tools.calls


def test_a_change_under_the_same_version_is_said_where_it_is_approved_and_ends_nothing_else(agent: Agent) -> None:
    first = approve(agent, asked(agent))
    other = replace(ONBOARDING, description="Welcome {param.to}")

    shown = asked(agent, playbook=other)
    approve(agent, shown)
    again = asked(agent, playbook=other)

    told = f"onboarding 1 is not the playbook that ran as {first.id}: it has changed since"
    assert told in shown.request["action_requests"][0]["description"]
    assert again.request is None and told not in str(agent.audit(again.id))


def test_limits_of_a_playbook_lower_those_of_the_settings_and_never_raise_them(
    tmp_path: Path, tools: LoggedTools
) -> None:
    limited = replace(ONBOARDING, limits={"tool_calls": 1, "calls": {"bill": 9}})
    with opened(tmp_path, tools, budget={"tool_calls": 5, "calls": {"bill": 2}}) as agent:
        waiting = asked(agent, playbook=limited)
        stopped = agent.resume(waiting.id, "approve")

        assert stopped.request is not None and stopped.request["action_requests"][0]["name"] == "raise_budget"
        assert stopped.request["action_requests"][0]["args"]["budget"] == {"tool_calls": 1, "calls": {"bill": 2}}
        assert len(tools.named("bill")) == 1 and asyncio.run(_terms(tmp_path, tools, stopped.id)) == ""
        assert agent.replay(stopped.id).is_same
        assert limited.digest != ONBOARDING.digest
        with pytest.raises(InputError, match="fax, whose calls it limits, is missing"):
            asked(agent, playbook=replace(ONBOARDING, limits={"calls": {"fax": 1}}))


async def _terms(folder: Path, tools: LoggedTools, run: str) -> str:
    async with AsyncAgent.open(
        folder / "runs.db", **options_of(tools, budget={"tool_calls": 5, "calls": {"bill": 2}})
    ) as agent:
        found = await agent.compare_terms(run)
    return found.sentence if found is not None else ""
