"""Which standing approval lets a call through, and what is written with the intent."""

import time
from dataclasses import replace
from typing import Any

import pytest
from desk import Desk, at_desk

from planner_executor.graph.calls.standing_calls import StandingCalls
from planner_executor.graph.calls.tool_call import Admitted, ToolCall
from planner_executor.graph.errors import StandingSpentError
from planner_executor.graph.plan.attempts import NO_LIMITS
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.policy.approver_rule import ApproverRule
from planner_executor.graph.policy.approvers import Approvers
from planner_executor.graph.policy.constraints import Constraint
from planner_executor.graph.policy.decision_deadline import TimeLimit
from planner_executor.graph.policy.policy import NO_POLICY, Policy
from planner_executor.graph.record.budget import Budget
from planner_executor.graph.record.events import StandingGiven
from planner_executor.graph.record.standing_approval import OF_PLAYBOOKS, StandingApproval, StandingCall, StandingUse
from planner_executor.graph.record.trust_label import TrustLabel
from planner_executor.graph.testing import LoggedTools, drafted, step

PAY = ToolSpec("pay", "", {"properties": {"to": {}}})
MAIL = replace(PAY, name="mail")
TOOL = LoggedTools().tool("send")
EYES = Policy(approvers=Approvers(ApproverRule(four_eyes=True)))


def approval(name: str = "sa-1", policy: Policy = NO_POLICY, **fields: Any) -> StandingApproval:
    known: dict[str, Any] = {
        "args": {"to": {"one_of": ["ann"]}},
        "at_most": 2,
        "given_by": ("server:ada",),
        "until": time.time() + 3600,
        "given_at": time.time(),
        **fields,
    }
    return StandingApproval(name, "pay", fingerprint=PAY.fingerprint, policy=policy.digest, **known)


def of_run(name: str = "sa-1", **fields: Any) -> StandingApproval:
    return approval(name, run="t.1", until=None, **fields)


def call(key: str = "k1", to: str = "ann") -> ToolCall:
    return ToolCall(key, "a", 0, "pay", {"to": to}, "d")


def admitted(key: str = "k1", approval: str | None = None) -> Admitted:
    return Admitted(call(key), NO_LIMITS, approval=approval)


async def standing(desk: Desk, *approvals: StandingApproval, policy: Policy = NO_POLICY) -> StandingCalls:
    """Return the standing approvals for a pass in a run that ada asked for; one without a run holds beyond it."""
    for one in approvals:
        if one.run is None:
            await desk.ledger.write(desk.lease, [], after=0, given=[one])
        else:
            await desk.ledger.append(desk.lease, [drafted("standing_given", one.to_json(), "a")])
    record = await desk.record()
    record.people.askers = ("server:ada",)
    return StandingCalls(desk.ledger, record, policy)


async def names(found: StandingCalls, *calls: ToolCall) -> list[str | None]:
    return [await found.covering(PAY, one, {}, is_unmet=False) for one in calls]


@pytest.mark.parametrize("given", [approval(), of_run()], ids=["of any run", "of the run"])
async def test_calls_are_let_through_up_to_the_number_however_many_wait(given: StandingApproval) -> None:
    async with at_desk(TOOL) as desk:
        assert await names(await standing(desk, given), call("k1"), call("k1"), call("k2"), call("k3"), call("k2")) == [
            "sa-1",
            "sa-1",
            "sa-1",
            None,
            "sa-1",
        ]


async def test_a_call_that_is_not_covered_uses_nothing() -> None:
    async with at_desk(TOOL) as desk:
        found = await standing(desk, approval(at_most=1))
        assert await names(found, call(to="bob"), call("k2")) == [None, "sa-1"]


async def test_the_approval_of_the_run_comes_first_and_the_next_when_it_is_spent() -> None:
    async with at_desk(TOOL) as desk:
        found = await standing(desk, approval("any"), of_run("own", at_most=1))
        assert await names(found, call("k1"), call("k2")) == ["own", "any"]


async def test_untrusted_arguments_are_looked_at() -> None:
    async with at_desk(TOOL) as desk:
        untrusted = {"to": TrustLabel("untrusted", ("web",))}
        assert await (await standing(desk, approval())).covering(PAY, call(), untrusted, is_unmet=False) is None


@pytest.mark.parametrize(("asker", "name"), [("server:ada", None), ("server:eve", "sa-1"), ("claimed:eve", None)])
async def test_under_four_eyes_the_givers_are_others_than_those_who_ask_now(asker: str, name: str | None) -> None:
    async with at_desk(TOOL) as desk:
        found = await standing(desk, approval(policy=EYES), policy=EYES)
        found.record.people.askers = (asker,)
        assert await names(found, call()) == [name]


@pytest.mark.parametrize(
    ("cost_usd", "found"), [(10, ["sa-1"]), (11, [None]), (None, [None])], ids=["within", "above", "without a bound"]
)
async def test_a_run_under_a_rule_by_cost_takes_no_approval_from_another_run(
    cost_usd: float | None, found: Any
) -> None:
    policy = Policy(approvers=Approvers(costs=((10, ApproverRule(roles=("lead",))),)))

    async with at_desk(TOOL) as desk:
        any_run = await standing(desk, approval(policy=policy), policy=policy)
        any_run.record.spending.budget = Budget(cost_usd=cost_usd)
        own = await standing(desk, of_run("own", policy=policy), policy=policy)
        own.record.spending.budget = any_run.record.spending.budget
        assert await names(own, call()) == ["own"]
        assert await names(any_run, call()) == found


async def test_a_counted_call_goes_on_when_the_approval_is_spent_or_past_its_time_but_not_when_it_is_revoked() -> None:
    async with at_desk(TOOL) as desk:
        found = await standing(desk, approval(at_most=1))
        await desk.ledger.append(desk.lease, [drafted("paused", {})], uses=[StandingCall("sa-1", "k1", "t.1")])
        spent = await names(found, call("k1"), call("k2"))
        await desk.ledger.revoke_standing("sa-1", "os:ada")
        assert [spent, await names(await standing(desk), call("k1"))] == [["sa-1", None], [None]]


@pytest.mark.parametrize("given", [approval(until=time.time() - 1), of_run("own"), approval("revoked")])
async def test_one_that_holds_no_longer_lets_no_further_call_through(given: StandingApproval) -> None:
    async with at_desk(TOOL) as desk:
        await standing(desk, given)
        await desk.ledger.revoke_standing("revoked", "os:ada")
        await desk.ledger.append(desk.lease, [drafted("standing_revoked", {"id": "own", "approver": "os:ada"})])
        assert await names(await standing(desk), call()) == [None]


async def test_a_use_in_the_run_is_counted_by_the_intents_of_the_run() -> None:
    started = {"key": "k1", "tool": "pay", "approval": "sa-1"}

    async with at_desk(TOOL) as desk:
        await standing(desk, of_run(at_most=1))
        await desk.ledger.append(desk.lease, [drafted("call_started", started, "a")])
        assert await names(await standing(desk), call("k1"), call("k2")) == ["sa-1", None]


async def test_the_copy_of_an_approval_that_holds_in_any_run_is_none_of_the_run() -> None:
    async with at_desk(TOOL) as desk:
        given = approval()
        await desk.ledger.append(desk.lease, [drafted("standing_given", given.to_json(), "a")])
        assert await names(await standing(desk), call()) == [None]


async def test_what_holds_in_any_run_is_copied_into_the_run_once_and_counted_with_each_intent() -> None:
    async with at_desk(TOOL) as desk:
        found = await standing(desk, approval(), of_run("own"))
        await names(found, call())
        first = found.counted([admitted("k1", approval="sa-1"), admitted("k2", approval="own"), admitted("k3")])
        (drafts, uses), (later, more) = (first, found.counted([admitted("k4", approval="sa-1")]))

    assert [(one.data.approval.id, one.step) for one in drafts if isinstance(one.data, StandingGiven)] == [
        ("sa-1", "a")
    ]
    assert (uses, later, more) == (
        [StandingCall("sa-1", "k1", "t.1")],
        [],
        [StandingCall("sa-1", "k4", "t.1")],
    )


async def test_a_copy_that_is_on_record_is_not_written_again() -> None:
    async with at_desk(TOOL) as desk:
        given = approval()
        await desk.ledger.append(desk.lease, [drafted("standing_given", given.to_json(), "a")])
        found = await standing(desk, given)
        await names(found, call())
        assert found.counted([admitted(approval="sa-1")]) == ([], [StandingCall("sa-1", "k1", "t.1")])


async def test_those_of_a_tool_are_read_once_in_a_pass_and_one_revoked_since_is_refused_as_its_use_is_written() -> None:
    async with at_desk(TOOL) as desk:
        given = approval()
        await desk.ledger.append(desk.lease, [drafted("standing_given", given.to_json(), "a")])
        found = await standing(desk, given)
        first = await names(found, call("k1"))
        await desk.ledger.revoke_standing("sa-1", "os:ada")
        assert await found.covering(MAIL, replace(call("m1"), tool="mail"), {}, is_unmet=False) is None
        second = await names(found, call("k2"))
        _, uses = found.counted([admitted("k2", approval="sa-1")])
        with pytest.raises(StandingSpentError):
            await desk.ledger.append(desk.lease, [drafted("paused", {})], uses=uses)
        assert [*first, *second] == ["sa-1", "sa-1"]


async def test_without_a_held_call_nothing_is_read_or_counted() -> None:
    async with at_desk(TOOL) as desk:
        assert (await standing(desk, approval())).counted([admitted()]) == ([], [])


async def test_constraints_widen_an_approval() -> None:
    async with at_desk(TOOL) as desk:
        given = approval(args={"to": Constraint(pattern="a.*").to_json()})
        assert await names(await standing(desk, given), call(to="adam"), call("k2", to="bob")) == ["sa-1", None]


PASSED = {"decision": "approve", "digest": "d", "binding": "b", "by": "standing", "standing": "sa-1"}


async def of_plan(desk: Desk, *approvals: StandingApproval, **decided: Any) -> StandingCalls:
    """Return the standing approvals of a run whose plan passed by one of a playbook."""
    await desk.ledger.write(desk.lease, [drafted("decided", {**PASSED, **decided})], after=0, given=approvals)
    return StandingCalls(desk.ledger, await desk.record(), NO_POLICY)


def of_playbook(name: str = "sa-1") -> StandingApproval:
    return approval(name, args={})._replace(tool=OF_PLAYBOOKS)


async def test_the_approval_by_which_a_plan_passed_covers_its_calls_until_it_is_revoked() -> None:
    async with at_desk(TOOL) as desk:
        found = await of_plan(desk, of_playbook(), of_playbook("sa-2"))
        assert [await found.of_plan(call()), await found.of_plan(call("k2"))] == ["sa-1", "sa-1"]
        await desk.ledger.revoke_standing("sa-1", "os:ada")
        assert await found.of_plan(call()) == "sa-1"  # read once in a pass: the intent finds out
        assert await (await of_plan(desk)).of_plan(call()) is None


async def test_a_plan_that_passed_by_no_standing_approval_or_by_none_that_is_known_has_none_for_its_calls() -> None:
    async with at_desk(TOOL) as desk:
        assert await StandingCalls(desk.ledger, await desk.record(), NO_POLICY).of_plan(call()) is None
        assert await (await of_plan(desk, of_playbook("sa-2"))).of_plan(call()) is None
        assert await (await of_plan(desk, of_playbook(), standing=None)).of_plan(call()) is None


async def test_a_call_that_people_rejected_is_not_covered_by_the_approval_of_the_plan() -> None:
    async with at_desk(TOOL) as desk:
        found = await of_plan(desk, of_playbook(), rejected={"k1": "no"})
        edited = replace(call("k9"), replaces="k1")
        assert [await found.of_plan(one) for one in (call("k1"), edited, call("k2"))] == [None, None, "sa-1"]


async def test_an_intent_finds_out_whether_the_approval_of_the_plan_was_revoked() -> None:
    async with at_desk(TOOL) as desk:
        found = await of_plan(desk, of_playbook())
        assert found.counted([admitted(approval=await found.of_plan(call()))]) == (
            [],
            [StandingCall("sa-1", "t.1", "t.1")],
        )
        assert found.counted([admitted(approval="sa-2"), admitted()]) == ([], [])


PLAN = {"steps": [step("a", "pay"), step("b", "pay")]}
PLANNED = drafted("plan_revised", {"revision": 1, "plan": PLAN, "digest": "d"})


@pytest.mark.parametrize(
    ("given", "covered"),
    [
        (drafted("result_supplied", {"value": 1, "approver": "server:eve"}, "a"), [None]),
        (drafted("result_supplied", {"value": 1, "approver": "server:eve"}, "b"), ["sa-1"]),
        (drafted("result_supplied", {"value": 1, "approver": "server:ada"}, "a"), ["sa-1"]),
        (drafted("decided", {"decision": "settle", "digest": None, "binding": None, "by": "person",
                             "approver": "server:eve", "budget": {"cost_usd": 9}}), ["sa-1"]),
    ],
    ids=["what the call rests on", "of another step", "by who gave the approval", "a raised limit"],
)  # fmt: skip
async def test_who_gave_what_a_call_rests_on_has_asked_for_it_and_who_raised_a_limit_has_not(
    given: Any, covered: list[str | None]
) -> None:
    async with at_desk(TOOL) as desk:
        await desk.ledger.append(desk.lease, [PLANNED, given])
        assert await names(await standing(desk, approval()), call()) == covered


async def test_without_a_plan_those_alone_count_who_asked_for_the_run() -> None:
    async with at_desk(TOOL) as desk:
        raised = {"decision": "settle", "digest": None, "binding": None, "by": "person", "approver": "server:eve"}
        await desk.ledger.append(desk.lease, [drafted("decided", {**raised, "budget": {"cost_usd": 9}})])
        assert await names(await standing(desk, approval()), call()) == ["sa-1"]


@pytest.mark.parametrize(("is_replayed", "covered"), [(True, ["sa-1"]), (False, [None])])
async def test_a_replayed_approval_lets_through_what_it_did_whoever_asks_now(is_replayed: bool, covered: Any) -> None:
    async with at_desk(TOOL) as desk:
        found = await standing(desk, policy=EYES)
        found.record.standing.by_id["sa-1"] = StandingUse(of_run(policy=EYES), is_replayed=is_replayed)
        assert await names(found, call()) == covered


ROLES = {"server:ada": ("finance",)}
FINANCE, LEAD = (ApproverRule(roles=(name,)) for name in ("finance", "lead"))


@pytest.mark.parametrize(
    ("is_unmet", "roles", "covered"),
    [
        (False, {"server:ada": ("finance",)}, "sa-1"),
        (True, {"server:ada": ("finance",)}, None),
        (True, {"server:ada": ("finance", "lead")}, "sa-1"),
    ],
)
async def test_of_a_call_whose_plan_met_no_rules_the_givers_have_to_meet_these_too(
    is_unmet: bool, roles: Any, covered: str | None
) -> None:
    policy = Policy(approvers=Approvers(tools={"pay": LEAD}, calls=Approvers(FINANCE)))

    async with at_desk(TOOL) as desk:
        found = await standing(desk, approval(policy=policy, roles=roles), policy=policy)
        assert await found.covering(PAY, call(), {}, is_unmet=is_unmet) == covered


async def test_the_roles_of_the_givers_tell_whether_they_may_decide_about_a_run_that_costs_this_much() -> None:
    policy = Policy(approvers=Approvers(costs=((10, FINANCE),)))

    async with at_desk(TOOL) as desk:
        found = await standing(desk, approval(policy=policy, roles=ROLES), policy=policy)
        found.record.spending.budget = Budget(cost_usd=20)
        assert await names(found, call()) == ["sa-1"]


@pytest.mark.parametrize(("given", "covered"), [(of_run, ["sa-1"]), (approval, [None])], ids=["the run", "any run"])
async def test_those_to_whom_a_request_was_escalated_give_an_approval_of_that_run_alone(
    given: Any, covered: list[str | None]
) -> None:
    rule = ApproverRule(roles=("finance",), time=TimeLimit(60.0, escalate_after_s=30.0, to_roles=("lead",)))
    policy = Policy(approvers=Approvers(calls=Approvers(rule)))

    async with at_desk(TOOL) as desk:
        found = await standing(desk, given(policy=policy, roles={"server:ada": ("lead",)}), policy=policy)
        assert await names(found, call()) == covered
