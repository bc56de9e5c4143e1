"""Which calls are held, and why: what was settled with a plan or ahead, rules on people, previews that changed."""

import time
from collections.abc import Sequence
from typing import Any

import pytest
from desk import PLAN, Desk, at_desk

from planner_executor.graph.calls.held_calls import NOT_COVERED
from planner_executor.graph.calls.tool_call import Admitted, CallHeld, CallUncertain
from planner_executor.graph.plan.schema import Step
from planner_executor.graph.policy.approver_rule import ApproverRule
from planner_executor.graph.policy.approvers import Approvers
from planner_executor.graph.policy.policy import NO_POLICY, Policy, ToolRule
from planner_executor.graph.record.events import Event
from planner_executor.graph.record.standing_approval import OF_PLAYBOOKS, StandingApproval
from planner_executor.graph.testing import LoggedTools, drafted

SEND = LoggedTools().tool("send", effect="external", trusted=True)
ASK = Policy(tools={"send": ToolRule("ask")})
BY_TOOL = Approvers(tools={"send": ApproverRule(roles=("finance",))})
RULED = Policy(approvers=BY_TOOL)
(STEP,) = PLAN.steps
OPEN = Step(id="a", objective="o", tools=("send",))
REVISED = {"revision": 1, "plan": PLAN.to_json(), "digest": PLAN.digest, "author": "planner"}


def previewing(words: Sequence[str]) -> Any:
    """Return a tool whose preview says these words, one after the other."""
    left = iter(words)
    return LoggedTools().tool("send", effect="write", trusted=True, preview=lambda **_: next(left))


async def admitted(desk: Desk, step: Step = STEP, **options: Any) -> Admitted:
    call = await (await desk.gate(**options)).admit(step, "send", {"to": "x"}, {})
    assert isinstance(call, Admitted)
    return call


async def held(desk: Desk, **options: Any) -> tuple[str, str]:
    """Let a pass over the plan hold the call; return its key and why."""
    with pytest.raises(CallHeld) as reason:
        await admitted(desk, **options)
    return reason.value.key, str(reason.value)


async def revise(desk: Desk, **more: Any) -> None:
    await desk.ledger.append(desk.lease, [drafted("plan_revised", {**REVISED, **more})])


async def ask(desk: Desk, *asked: str) -> None:
    await desk.ledger.append(desk.lease, [drafted("review_requested", {"request": 1, "asked": list(asked)})])


async def approve(desk: Desk, **fields: Any) -> None:
    decided = {"decision": "approve", "digest": PLAN.digest, "binding": "b", "by": "person", **fields}
    await desk.ledger.append(desk.lease, [drafted("decided", decided)])


async def see(desk: Desk, key: str) -> None:
    """Show a held call to a person, who approves it."""
    await ask(desk, "run_step")
    await desk.ledger.append(
        desk.lease, [drafted("decided", {"decision": "settle", "digest": None, "binding": None, "steps": [key]})]
    )


async def holds(desk: Desk) -> list[Event]:
    return [event for event in await desk.ledger.events(desk.run) if event.kind == "step_held"]


def approval(desk: Desk, policy: Policy, **fields: Any) -> StandingApproval:
    known: dict[str, Any] = {
        "tool": "send", "args": {"to": {"one_of": ["x"]}}, "at_most": 9, "policy": policy.digest, "run": "t.1",
        "fingerprint": desk.toolbox.specs["send"].fingerprint, "given_by": ("server:ada",), "given_at": 1.0,
        "until": None, **fields,
    }  # fmt: skip
    return StandingApproval("sa-1", **known)


async def give(desk: Desk, policy: Policy, **fields: Any) -> None:
    given = approval(desk, policy, **fields)
    await desk.ledger.append(desk.lease, [drafted("standing_given", given.to_json(), "a")])


async def test_a_call_that_people_settled_with_the_plan_is_not_asked_about_again() -> None:
    async with at_desk(SEND) as desk:
        await revise(desk)
        key, _ = await held(desk, policy=ASK)
        await approve(
            desk,
            with_plan=[{"key": key, "place": "a", "tool": "send", "met": []}],
            approver="server:ada",
        )
        assert (await admitted(desk, policy=ASK)).approval is None


@pytest.mark.parametrize(
    ("policy", "named"), [(ASK, "sa-1"), (NO_POLICY, None)], ids=["asked about", "not asked about"]
)
async def test_a_plan_approved_ahead_covers_the_calls_that_the_policy_asks_about(
    policy: Policy, named: str | None
) -> None:
    async with at_desk(SEND) as desk:
        ahead = approval(desk, policy, tool=OF_PLAYBOOKS, args={}, run=None, until=time.time() + 60)
        await desk.ledger.write(desk.lease, [], after=0, given=[ahead])
        await revise(desk)
        await approve(desk, by="standing", standing="sa-1")
        assert (await admitted(desk, policy=policy)).approval == named


async def test_a_call_is_held_whose_rules_were_not_met_and_says_that() -> None:
    async with at_desk(SEND) as desk:
        await revise(desk)
        await ask(desk, "run_plan")
        await approve(desk, approver="server:eve", met={"send": []})
        _, why = await held(desk, policy=RULED)
        (event,) = await holds(desk)

    assert why.startswith("the approval of the plan does not meet the policy's rules") and event.payload["asked"] in why


@pytest.mark.parametrize("is_met", [True, False])
async def test_a_standing_approval_covers_an_unmet_call_if_its_givers_meet_the_rules_of_plans_too(is_met: bool) -> None:
    finance = Approvers(ApproverRule(roles=("finance",)))
    policy = Policy(approvers=Approvers(tools={"send": ApproverRule(roles=("lead",))}, calls=finance))

    async with at_desk(SEND) as desk:
        await give(desk, policy, roles={"server:ada": ("finance", "lead") if is_met else ("finance",)})
        await revise(desk)
        await ask(desk, "run_plan")
        await approve(desk, approver="server:eve", met={"send": []})
        if is_met:
            assert (await admitted(desk, policy=policy)).approval == "sa-1"
        else:
            await held(desk, policy=policy)


async def test_a_standing_approval_covers_no_call_of_a_plan_that_looks_have_tainted() -> None:
    async with at_desk(SEND) as desk:
        await give(desk, ASK)
        await revise(desk)
        assert (await admitted(desk, policy=ASK)).approval == "sa-1"
        await revise(desk, revision=2, by_look=True)
        await held(desk, policy=ASK)


async def test_a_person_who_has_seen_a_call_sees_it_again_once_its_preview_is_another_one() -> None:
    async with at_desk(previewing(["one", "two", "two", "two"])) as desk:
        key, _ = await held(desk, policy=ASK)
        await see(desk, key)
        again, why = await held(desk, policy=ASK)
        first, second = await holds(desk)
        await see(desk, key)
        await admitted(desk, policy=ASK)

    assert again == key and why.startswith("what its tool says that it would do has changed")
    assert [event.payload["previewed"]["text"] for event in (first, second)] == ["one", "two"]
    assert second.payload["asked"].startswith("what its tool says")


async def test_a_standing_approval_does_not_cover_a_call_whose_preview_has_changed() -> None:
    async with at_desk(previewing(["one", "two"])) as desk:
        key, _ = await held(desk, policy=ASK)
        await see(desk, key)
        await give(desk, ASK)
        await held(desk, policy=ASK)


async def test_a_changed_preview_of_a_call_that_was_seen_says_nothing_of_rules() -> None:
    async with at_desk(previewing(["one", "two"])) as desk:
        await revise(desk)
        await ask(desk, "run_plan")
        await approve(desk, approver="server:eve", met={"send": []})
        supplied = {"value": 9, "approver": "server:eve"}
        await desk.ledger.append(desk.lease, [drafted("result_supplied", supplied, "a")])
        key, _ = await held(desk, policy=RULED)
        await see(desk, key)
        await held(desk, policy=RULED)
        first, second = await holds(desk)

    assert first.payload["values"] and not second.payload.get("values")


async def test_a_held_call_is_written_again_only_if_a_person_gave_it_other_arguments() -> None:
    async with at_desk(previewing(["one", "two", "three"])) as desk:
        key, _ = await held(desk, step=OPEN, policy=ASK)
        await held(desk, step=OPEN, policy=ASK)
        replaced = {"decision": "settle", "digest": None, "binding": None, "replaced": {key: {"to": "y"}}}
        await desk.ledger.append(desk.lease, [drafted("decided", replaced)])
        await held(desk, step=OPEN, policy=ASK)
        await held(desk, step=OPEN, policy=ASK)
        texts = [event.payload["previewed"]["text"] for event in await holds(desk)]

    assert texts == ["one", "two"]


async def test_a_call_is_asked_about_without_its_plan_once_it_was_committed_elsewhere() -> None:
    async with at_desk(SEND) as desk:
        gate = await desk.gate(policy=ASK)
        call = (await admitted(desk)).call
        with pytest.raises(CallHeld, match="the policy asks about every call of send"):
            await gate._held.hold(call)


@pytest.mark.parametrize(("by", "is_held"), [("person", True), ("policy", False), (None, False)])
async def test_a_call_that_a_revision_adds_is_in_question_if_people_approved_the_plan(by: Any, is_held: bool) -> None:
    async with at_desk(SEND) as desk:
        await revise(desk, new_effects={"a": ["send"]})
        if by is not None:
            await approve(desk, by=by)
        if is_held:
            _, why = await held(desk)
            assert why.startswith(NOT_COVERED)
        else:
            await admitted(desk)


async def test_outcomes_are_written_before_the_call_that_rests_on_them_is_held() -> None:
    async with at_desk(SEND) as desk:
        gate, written = await desk.gate(policy=ASK), []

        async def write_ended() -> None:
            written.append(await holds(desk))

        with gate.resting_on(write_ended), pytest.raises(CallHeld):
            await gate.admit(STEP, "send", {"to": "x"}, {})

    assert written == [[]]


async def test_a_call_waits_on_record_for_others_once_under_a_revision() -> None:
    begun = {"key": "kb", "tool": "send", "args": {"to": "x"}, "effect": "external", "repeatable": False}
    later = Step(id="b", objective="o", tool="send", args={"to": "x"})

    async with at_desk(SEND) as desk:
        await desk.ledger.append(desk.lease, [drafted("call_started", begun, "a")])
        for revision in (None, None, 1):
            if revision:
                await desk.revise(revision)
            with pytest.raises(CallUncertain):
                await (await desk.gate()).admit(later, "send", {"to": "x"}, {})
        assert (await desk.kinds()).count("step_uncertain") == 2
