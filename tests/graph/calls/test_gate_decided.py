"""Calls that a person has decided about: other arguments, rejections, standing approvals, and answers to questions."""

from typing import Any

import pytest
from desk import PLAN, Desk, at_desk

from planner_executor.graph.calls.held_calls import NOT_COVERED
from planner_executor.graph.calls.tool_call import Admitted, CallAsks, CallHeld, CallUncertain
from planner_executor.graph.plan.schema import Step
from planner_executor.graph.policy.conditions import Conditions
from planner_executor.graph.policy.constraints import Constraint
from planner_executor.graph.policy.grants import Refused, RejectedByPerson
from planner_executor.graph.policy.policy import Policy, ToolRule
from planner_executor.graph.record.events import Event
from planner_executor.graph.record.trust_label import USER, TrustLabel
from planner_executor.graph.testing import LoggedTools, drafted
from planner_executor.tools.call_questions import CallQuestion, InputNeeded, replies_given

STEP = Step(id="a", objective="o", tools=("send",), max_calls=9)
PAGE, TRUSTED = TrustLabel("untrusted", ("page",)), TrustLabel("trusted", ("send",))
SCHEMA = {"properties": {"to": {"type": "string"}, "n": {"type": "integer"}}}
SEND = LoggedTools().tool("send", schema=SCHEMA, effect="external", trusted=True)
ASK = Policy(tools={"send": ToolRule("ask")})


async def admitted(desk: Desk, step: Step = STEP, given: TrustLabel = PAGE, **options: Any) -> Admitted:
    call = await (await desk.gate(**options)).admit(step, "send", {"to": "x"}, {}, given)
    assert isinstance(call, Admitted)
    return call


async def held(desk: Desk, **options: Any) -> str:
    """Let a pass over the plan hold the call; return its key."""
    with pytest.raises(CallHeld) as reason:
        await admitted(desk, **options)
    return reason.value.key


async def decide(desk: Desk, **fields: Any) -> None:
    await desk.ledger.append(
        desk.lease, [drafted("decided", {"decision": "settle", "digest": None, "binding": None, **fields})]
    )


async def noted(desk: Desk, kind: str) -> list[Event]:
    return [event for event in await desk.ledger.events(desk.run) if event.kind == kind]


@pytest.mark.parametrize(
    ("args", "edited", "label"),
    [
        ({"to": "y"}, ("to",), TRUSTED),
        ({"to": "x", "n": 1}, ("n",), PAGE),
        ({"to": "y", "n": 1}, ("to", "n"), TRUSTED),
        ({"to": "x"}, (), PAGE),
    ],
)
async def test_a_call_is_made_with_the_arguments_that_a_person_gave_instead(args: Any, edited: Any, label: Any) -> None:
    async with at_desk(SEND) as desk:
        key = await held(desk)
        await decide(desk, steps=[key], replaced={key: args})
        call = await admitted(desk)
        await (await desk.gate()).commit([], [call])
        assert (await desk.last()).payload["replaces"] == key
        key, call = (key, call)

    assert (call.call.args, call.call.edited, call.call.replaces, call.call.label) == (args, edited, key, label)
    assert (call.call.key == key) == (args == {"to": "x"})


async def test_the_same_arguments_of_another_step_stay_as_they_are() -> None:
    async with at_desk(SEND) as desk:
        key = await held(desk)
        await decide(desk, steps=[key], replaced={key: {"to": "y"}})
        call = await admitted(desk, Step(id="b", objective="o", tools=("send",)), USER)

    assert (call.call.args, call.call.edited, call.call.replaces) == ({"to": "x"}, (), None)


@pytest.mark.parametrize(
    ("args", "words"),
    [({"to": 5}, "to"), ({"to": "y", "cc": "z"}, "cc"), ({"to": "eve"}, "the policy forbids this value")],
)
async def test_the_arguments_that_a_person_gave_have_to_be_allowed_as_any(args: Any, words: str) -> None:
    policy = Policy(tools={"send": ToolRule(args={"to": Constraint(one_of=("x", "y"))})})

    async with at_desk(SEND) as desk:
        key = await held(desk, policy=policy)
        await decide(desk, steps=[key], replaced={key: args})
        with pytest.raises(Refused, match=words):
            await admitted(desk, policy=policy)
        assert len([event.payload["why"] for event in await noted(desk, "call_refused")]) == 1


async def test_the_arguments_that_a_person_gave_have_to_be_granted_by_the_step() -> None:
    pinned = Step(id="a", objective="o", tool="send", args={"to": "x"})

    async with at_desk(SEND) as desk:
        key = await held(desk, step=pinned, policy=ASK)
        await decide(desk, steps=[key], replaced={key: {"to": "y"}})
        with pytest.raises(Refused, match="to is fixed by the plan"):
            await admitted(desk, pinned, policy=ASK)


async def test_a_proposed_edit_is_held_under_the_name_of_the_call_that_was_shown() -> None:
    async with at_desk(SEND) as desk:
        key = await held(desk, policy=ASK)
        await decide(desk, replaced={key: {"to": "y"}})  # by somebody whose word alone is not enough
        await desk.revise(1)
        assert await held(desk, policy=ASK) == key
        key, shown = (key, [(event.payload["key"], event.payload["args"]) for event in await noted(desk, "step_held")])

    assert shown == [(key, {"to": "x"}), (key, {"to": "y"})]


async def revised_and_decided(desk: Desk, **decision: Any) -> str:
    """Add the plan's call to what was approved, and decide about the plan; return the call's key."""
    plan = {"revision": 1, "plan": PLAN.to_json(), "digest": PLAN.digest, "author": "replanner"}
    await desk.ledger.append(desk.lease, [drafted("plan_revised", {**plan, "new_effects": {"a": ["send"]}})])
    (added,) = (await desk.record()).plan_state.effects_of(["a"])
    about = {name: [added.key] if name == "steps" else {added.key: "no"} for name in decision.pop("names", ())}
    await decide(desk, **{"decision": "approve", "digest": PLAN.digest, "by": "person", **about, **decision})
    return str(added.key)


async def test_a_call_that_a_revision_adds_is_held_if_only_the_plan_was_approved() -> None:
    async with at_desk(SEND) as desk:
        await revised_and_decided(desk)
        with pytest.raises(CallHeld, match=NOT_COVERED):
            await admitted(desk, PLAN.steps[0], USER)
        with pytest.raises(CallHeld, match="the policy asks about every call of send"):
            await admitted(desk, PLAN.steps[0], USER, policy=ASK)


@pytest.mark.parametrize("decision", [{"names": ["steps"]}, {"by": "policy"}], ids=str)
async def test_a_call_that_a_revision_adds_is_made_if_it_was_decided_by_itself_or_nobody_has_to_see_it(
    decision: dict[str, Any],
) -> None:
    async with at_desk(SEND) as desk:
        await revised_and_decided(desk, **decision)
        await admitted(desk, PLAN.steps[0], USER)


async def test_a_call_that_a_revision_adds_and_a_person_rejected_is_refused() -> None:
    async with at_desk(SEND) as desk:
        await revised_and_decided(desk, names=["rejected"])
        with pytest.raises(RejectedByPerson, match="a person rejected this call: no"):
            await admitted(desk, PLAN.steps[0], USER)


AT_X: Conditions = {"to": Constraint(one_of=("x",))}


@pytest.mark.parametrize("asks", [True, False])
@pytest.mark.parametrize(
    ("policy", "why"),
    [
        (ASK, "the policy asks about every call of send; a person"),
        (Policy(tools={"send": ToolRule(ask_when=AT_X)}), "the policy asks if to is one of x; a person"),
    ],
)
async def test_the_policy_has_a_call_shown_whatever_the_mode_is_and_says_why(
    policy: Policy, why: str, asks: bool
) -> None:
    async with at_desk(SEND) as desk:
        with pytest.raises(CallHeld, match=why):
            await admitted(desk, given=USER, policy=policy, asks=asks)
        (event,) = await noted(desk, "step_held")
        assert why.startswith(str(event.payload["asked"]))


async def test_a_call_that_a_person_rejected_is_refused_under_this_revision_and_asked_about_under_the_next() -> None:
    async with at_desk(SEND) as desk:
        key = await held(desk)
        await decide(desk, rejected={key: "not him"})
        with pytest.raises(RejectedByPerson, match="a person rejected this call: not him"):
            await admitted(desk)
        await desk.revise(1)
        assert await held(desk) == key


async def test_a_rejected_edit_is_refused_by_the_name_of_the_call_that_was_shown() -> None:
    async with at_desk(SEND) as desk:
        key = await held(desk)
        await decide(desk, replaced={key: {"to": "y"}}, rejected={key: "nobody"})
        with pytest.raises(RejectedByPerson, match="nobody"):
            await admitted(desk, policy=ASK)


def approval(desk: Desk, policy: Policy, **fields: Any) -> dict[str, Any]:
    spec = desk.toolbox.specs["send"]
    return {
        "id": "sa-1", "tool": "send", "args": {"to": {"one_of": ["x"]}}, "at_most": 1, "fingerprint": spec.fingerprint,
        "policy": policy.digest, "given_by": ["server:ada"], "given_at": 1.0, "run": "t.1", "until": None, **fields,
    }  # fmt: skip


async def test_a_standing_approval_lets_a_call_through_and_the_intent_names_it() -> None:
    async with at_desk(SEND) as desk:
        await desk.ledger.append(desk.lease, [drafted("standing_given", approval(desk, ASK), "a")])
        call = await admitted(desk, given=USER, policy=ASK)
        await (await desk.gate(policy=ASK)).commit([], [call])
        assert (call.approval, (await desk.last()).payload["approval"], await noted(desk, "step_held")) == (
            "sa-1",
            "sa-1",
            [],
        )


async def test_a_standing_approval_does_not_cover_a_call_that_a_revision_adds() -> None:
    async with at_desk(SEND) as desk:
        await desk.ledger.append(desk.lease, [drafted("standing_given", approval(desk, ASK), "a")])
        await revised_and_decided(desk)
        with pytest.raises(CallHeld, match="the policy asks about every call of send"):
            await admitted(desk, PLAN.steps[0], USER, policy=ASK)


async def test_a_call_that_nobody_has_to_see_uses_no_standing_approval() -> None:
    async with at_desk(SEND) as desk:
        await desk.ledger.append(desk.lease, [drafted("standing_given", approval(desk, Policy()), "a")])
        assert (await admitted(desk, given=USER, policy=Policy())).approval is None


async def test_a_standing_approval_does_not_cover_a_call_that_happened_before() -> None:
    async with at_desk(SEND) as desk:
        call = await admitted(desk, given=USER)
        await (await desk.gate()).commit([], [call])
        await desk.happened(call.call.key)
        async with desk.next_run() as later:
            await later.ledger.append(later.lease, [drafted("standing_given", approval(later, ASK, run="t.2"), "a")])
            with pytest.raises(CallHeld, match="the same call happened before"):
                await admitted(later, given=USER, policy=ASK)


QUESTION = CallQuestion("q", "Which size?", {"type": "object", "properties": {"size": {}}})


def asking() -> Any:
    """Return a tool that asks for a size before it sends."""

    def work(**_: Any) -> Any:
        replies = replies_given()
        if replies is None:
            raise InputNeeded((QUESTION,), "half way")
        return [replies.state, replies.forms, replies.anew, len(replies.questions)]

    return LoggedTools().tool("send", work, schema=SCHEMA, effect="external", trusted=True)


async def asked(desk: Desk) -> str:
    """Make a call that ends with a question; return its key."""
    call = await admitted(desk, given=USER)
    gate = await desk.gate()
    await gate.commit([], [call])
    with pytest.raises(CallAsks) as reason:
        await gate.perform(call)
    assert reason.value.key == call.call.key
    return call.call.key


async def test_a_call_that_asks_waits_until_a_person_has_answered_and_goes_on_with_the_answer() -> None:
    async with at_desk(asking()) as desk:
        key = await asked(desk)
        assert (await desk.last()).payload["questions"] == [
            {"id": "q", "text": "Which size?", "schema": QUESTION.schema}
        ]
        with pytest.raises(CallAsks):
            await admitted(desk, given=USER)
        await decide(desk, replies={key: {"q": {"size": "M"}}})
        call = await admitted(desk, given=USER)
        assert (call.call.key, call.replies is not None) == (key, True)
        assert (await (await desk.gate()).perform(call)).value == ["half way", {"q": {"size": "M"}}, False, 1]


async def test_what_a_call_asked_is_asked_once_for_each_revision() -> None:
    async with at_desk(asking()) as desk:
        await asked(desk)
        for revision in (None, None, 1):
            if revision:
                await desk.revise(revision)
            with pytest.raises(CallAsks):
                await admitted(desk, given=USER)
        assert await desk.kinds() == ["call_started", "call_asked", "plan_revised", "call_asked"]


async def test_another_step_does_not_make_a_call_that_has_begun_and_asks() -> None:
    other = Step(id="b", objective="o", tools=("send",))

    async with at_desk(asking()) as desk:
        gate = await desk.gate()
        call = await gate.admit(STEP, "send", {"to": "x"}, {})
        assert isinstance(call, Admitted)
        await gate.commit([], [call])
        with pytest.raises(CallAsks):
            await gate.perform(call)
        for later in (gate, await desk.gate()):
            with pytest.raises(CallUncertain):
                await later.admit(other, "send", {"to": "x"}, {})


async def test_a_call_that_goes_on_still_waits_for_another_one_that_may_have_happened() -> None:
    other = {"key": "kb", "tool": "send", "args": {"to": "x"}, "effect": "external", "repeatable": False}

    async with at_desk(asking()) as desk:
        key = await asked(desk)
        await desk.ledger.append(desk.lease, [drafted("call_started", other, "b")])
        await decide(desk, replies={key: {"q": {"size": "M"}}})
        with pytest.raises(CallUncertain) as reason:
            await admitted(desk, given=USER)
        assert reason.value.keys == ("kb",)


async def test_after_an_answer_was_sent_and_lost_the_call_itself_is_uncertain() -> None:
    async with at_desk(asking()) as desk:
        key = await asked(desk)
        await decide(desk, replies={key: {"q": {"size": "M"}}})
        call = await admitted(desk, given=USER)
        await (await desk.gate()).commit([], [call])  # and the process ends
        with pytest.raises(CallUncertain) as reason:
            await admitted(desk, given=USER)
        assert reason.value.keys == (key,)
