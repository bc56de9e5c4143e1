"""Calls that may not be repeated: which earlier ones they are identical to, and whose turn it is."""

import asyncio
from contextlib import suppress
from typing import Any

import pytest
from desk import Desk, at_desk

from planner_executor.graph.calls.gate import CallGate
from planner_executor.graph.calls.tool_call import Admitted, CallAsks, CallUncertain, Finished, ToolCall
from planner_executor.graph.calls.toolbox import Toolbox
from planner_executor.graph.plan.schema import Step
from planner_executor.graph.record.redaction import MARK
from planner_executor.graph.testing import LoggedTools, drafted
from planner_executor.tools.call_questions import CallQuestion, InputNeeded
from planner_executor.tools.errors import NothingHappened

HANGS_AFTER_S = 5
STEP = Step(id="a", objective="o", tools=("send", "pay"), max_calls=9)
OTHER = Step(id="b", objective="o", tools=("send", "pay"), max_calls=9)
SEND, PAY = LoggedTools().tool("send"), LoggedTools().tool("pay")
UNMET = drafted("step_checked", {"met": False, "error": "will not do", "revision": 0}, "a")


def broken(error: Exception) -> Any:
    def work(**_: Any) -> None:
        raise error

    return LoggedTools().tool("send", work)


async def admit(gate: CallGate, step: Step = STEP, to: str = "x", **more: Any) -> Admitted:
    admitted = await gate.admit(step, "send", {"to": to}, {}, **more)
    assert isinstance(admitted, Admitted)
    return admitted


async def started(desk: Desk, step: Step = STEP, tool: str = "send", to: str = "x") -> Admitted:
    """Write the intent of a call, as a process does that ends in the middle of it."""
    gate = await desk.gate()
    call = await gate.admit(step, tool, {"to": to}, {})
    assert isinstance(call, Admitted)
    await gate.commit([], [call])
    return call


async def ended(desk: Desk, step: Step = STEP) -> Admitted:
    """Make a call, and write its outcome."""
    gate = await desk.gate()
    call = await admit(gate, step)
    await gate.commit([], [call])
    await gate.commit([await gate.perform(call)], [])
    return call


async def happened_elsewhere(desk: Desk, call: ToolCall) -> list[str]:
    gate = await desk.gate()
    await gate.effects.look_up(call.tool)
    return [known.key for known in gate.effects.happened_elsewhere(call)]


async def test_a_redacted_call_may_have_been_any_call_of_its_tool() -> None:
    async with at_desk(SEND, PAY) as desk:
        await started(desk, to=MARK)
        with pytest.raises(CallUncertain):
            await admit(await desk.gate())


@pytest.mark.parametrize(("tool", "to"), [("send", "y"), ("pay", "x")])
async def test_an_uncertain_call_of_another_tool_or_with_other_arguments_is_another_call(tool: str, to: str) -> None:
    async with at_desk(SEND, PAY) as desk:
        await started(desk, tool=tool, to=to)
        await admit(await desk.gate(), OTHER)


@pytest.mark.parametrize(("default", "is_same"), [("x", True), ("y", False)])
async def test_a_default_that_is_left_out_is_the_same_argument(default: str, is_same: bool) -> None:
    tool = LoggedTools().tool("send", schema={"properties": {"to": {"default": default}}})

    async with at_desk(tool) as desk:
        gate = await desk.gate()
        first, second = await gate.admit(STEP, "send", {}, {}), await admit(gate, OTHER)
        assert isinstance(first, Admitted) and not first.queued
        assert second.queued == is_same


async def test_a_call_that_happened_with_other_arguments_stands_for_no_other() -> None:
    async with at_desk(SEND, PAY) as desk:
        other = await started(desk, to="y")
        await desk.happened(other.call.key)
        call = await admit(await desk.gate(), OTHER)
        async with desk.next_run() as later:
            assert await happened_elsewhere(later, call.call) == []


async def test_a_call_that_failed_in_an_earlier_pass_is_no_result_for_another_step() -> None:
    async with at_desk(broken(ValueError("down"))) as desk:
        await ended(desk)
        with pytest.raises(CallUncertain):
            await admit(await desk.gate(), OTHER)


async def test_a_call_that_happened_stands_for_no_other_once_its_step_failed_its_criteria() -> None:
    async with at_desk(SEND, PAY) as desk:
        call = await started(desk)
        await desk.happened(call.call.key, "receipt")
        recalled = await (await desk.gate()).admit(OTHER, "send", {"to": "x"}, {})
        assert isinstance(recalled, Finished)
        await desk.ledger.append(desk.lease, [UNMET])
        with pytest.raises(CallUncertain):
            await admit(await desk.gate(), OTHER)
        async with desk.next_run() as later:
            assert await happened_elsewhere(later, call.call) == []


async def test_calls_that_happened_elsewhere_are_those_of_other_runs_that_a_person_settled() -> None:
    async with at_desk(SEND, PAY) as desk:
        found, call = [], await started(desk)
        async with desk.next_run() as later:
            found.append(await happened_elsewhere(later, call.call))
            await desk.happened(call.call.key)
            found += [await happened_elsewhere(desk, call.call), await happened_elsewhere(later, call.call)]
        assert found[2] == [call.call.key]
        assert found[:2] == [[], []]


async def test_a_call_that_happened_elsewhere_is_neither_uncertain_nor_a_result_here() -> None:
    async with at_desk(SEND, PAY) as desk:
        call = await started(desk)
        await desk.happened(call.call.key)
        async with desk.next_run() as later:
            effects = (await later.gate()).effects
            await effects.look_up("send")
            assert (effects.uncertain(call.call), effects.settled(call.call)) == ([], None)


@pytest.mark.parametrize("begun_again", [False, True])
async def test_an_uncertain_call_of_another_run_is_open_until_it_is_settled_and_again_when_it_is_begun_again(
    begun_again: bool,
) -> None:
    async with at_desk(SEND, PAY) as desk:
        gate = await desk.gate()
        call = await admit(gate)
        await gate.commit([], [call])
        async with desk.next_run() as later:
            with pytest.raises(CallUncertain):
                await admit(await later.gate())
            await later.happened(call.call.key, run="t.1")
            if begun_again:
                await gate.commit([], [call])
            effects = (await later.gate()).effects
            await effects.look_up("send")
            assert bool(effects.uncertain(call.call)) is begun_again


async def test_of_three_identical_calls_each_waits_for_the_one_before_it() -> None:
    async with at_desk(SEND, PAY) as desk:
        effects = (gate := await desk.gate()).effects
        first, second, third = [await admit(gate, step) for step in (STEP, OTHER, STEP)]
        waiting = asyncio.create_task(effects.wait_for_turn(second.call))
        await asyncio.sleep(0)
        effects.end_turn(first.call)
        async with asyncio.timeout(HANGS_AFTER_S):
            assert await waiting == []
        is_free = [effects.take_turn(third.call)]
        effects.end_turn(second.call)
        assert [*is_free, effects.take_turn(third.call)] == [False, True]


async def test_calls_that_wait_go_on_when_all_turns_are_given_up() -> None:
    async with at_desk(SEND, PAY) as desk:
        effects = (gate := await desk.gate()).effects
        calls = [await admit(gate, step, to) for to in "xy" for step in (STEP, OTHER)]
        waiting = [asyncio.create_task(effects.wait_for_turn(call.call)) for call in calls if call.queued]
        await asyncio.sleep(0)
        effects.end_turns()
        async with asyncio.timeout(HANGS_AFTER_S):
            assert [await wait == [] for wait in waiting] == [True, True]


async def test_a_call_that_finds_another_uncertain_takes_no_turn() -> None:
    async with at_desk(broken(ValueError("down"))) as desk:
        gate = await desk.gate()
        first, second = await admit(gate), await admit(gate, OTHER)
        await gate.commit([], [first])
        await gate.perform(first)
        assert [call.key for call in await gate.effects.wait_for_turn(second.call)] == [first.call.key]
        assert gate.effects.take_turn(second.call)


def asking(**_: Any) -> None:
    raise InputNeeded((CallQuestion("q", "Which size?", {}),), None)


@pytest.mark.parametrize("tool", [SEND, LoggedTools().tool("send", asking)], ids=["that ended", "that asks"])
@pytest.mark.parametrize(
    ("step", "item", "is_free"),
    [
        (STEP, None, True),
        (Step(id="a", objective="o", tool="send", args={"to": "x"}, for_each=[1]), 0, True),
        (Step(id="a", objective="o", tool="send", args={"to": "x"}), None, False),
    ],
    ids=["a model's call", "an item's call", "a step's own call"],
)
async def test_only_a_steps_own_call_keeps_its_turn_until_its_result_has_been_checked(
    step: Step, item: int | None, is_free: bool, tool: Any
) -> None:
    async with at_desk(tool, PAY) as desk:
        gate = await desk.gate()
        call = await admit(gate, step, item=item)
        with suppress(CallAsks):
            await gate.perform(call)
        assert gate.effects.take_turn(call.call) is is_free


@pytest.mark.parametrize("in_an_earlier_pass", [False, True])
async def test_a_call_whose_step_failed_its_criteria_is_not_repeated_by_another_step(in_an_earlier_pass: bool) -> None:
    async with at_desk(SEND, PAY) as desk:
        gate = await desk.gate()
        if in_an_earlier_pass:
            call, gate = await ended(desk), await desk.gate()
        else:
            call = await admit(gate)
            await gate.perform(call)
        await gate.effects.unmet("a", "will not do")
        with pytest.raises(CallUncertain) as reason:
            await admit(gate, OTHER)
        assert reason.value.keys == (call.call.key,)
        assert (await desk.last()).payload["calls"][0]["key"] == call.call.key


async def test_a_call_without_an_effect_may_be_repeated_whatever_became_of_its_step() -> None:
    async with at_desk(broken(NothingHappened("busy"))) as desk:
        gate = await desk.gate()
        call = await admit(gate)
        await gate.perform(call)
        await gate.effects.unmet("a", "will not do")
        await admit(gate, OTHER)


async def test_a_call_of_a_tool_that_is_no_longer_there_is_left_as_it_is() -> None:
    async with at_desk(SEND, PAY) as desk:
        await ended(desk)
        later = Desk(desk.ledger, desk.lease, Toolbox([PAY]))
        await (await later.gate()).effects.unmet("a", "will not do")


@pytest.mark.parametrize(
    ("step", "tool", "to", "found"),
    [("a", "send", "x", 1), ("a", "send", "y", 1), ("b", "send", "y", 1), ("b", "send", "x", 0), ("a", "pay", "x", 0)],
)
async def test_a_fork_knows_the_calls_of_its_source_by_their_arguments_and_those_of_a_step_by_the_step(
    step: str, tool: str, to: str, found: int
) -> None:
    happened = {"source": "f.1", "key": "k9", "tool": "send", "args": {"to": "y"}, "happened": True}

    async with at_desk(SEND, PAY) as desk:
        await desk.ledger.append(desk.lease, [drafted("call_inherited", happened, "a")])
        effects = (await desk.gate()).effects
        for name in ("send", "pay"):
            await effects.look_up(name)
        args = {"to": to}
        call = ToolCall("k", step, 1, tool, args, "d", same_digest=effects.digest(tool, args))
        assert len(effects.happened_elsewhere(call)) == found


async def test_of_a_steps_calls_with_other_arguments_only_those_of_the_source_count() -> None:
    inherited = {"source": "f.1", "key": "k9", "tool": "send", "args": {"to": "y"}, "happened": True}

    async with at_desk(SEND, PAY) as desk:
        await desk.happened((await started(desk, to="z")).call.key)
        async with desk.next_run() as fork:
            await fork.ledger.append(fork.lease, [drafted("call_inherited", inherited, "b")])
            assert (
                await happened_elsewhere(fork, ToolCall("k", "a", 1, "send", {"to": "x"}, "d", same_digest="other"))
                == []
            )


async def test_inherited_calls_come_in_the_order_of_the_record() -> None:
    keys = [f"k{number}" for number in range(20)]

    async with at_desk(SEND, PAY) as desk:
        for key in keys:
            happened = {"source": "f.1", "key": key, "tool": "send", "args": {"to": key}, "happened": True}
            await desk.ledger.append(desk.lease, [drafted("call_inherited", happened, "a")])
        assert (
            await happened_elsewhere(desk, ToolCall("k", "a", 1, "send", {"to": "x"}, "d", same_digest="other")) == keys
        )


async def test_a_fork_waits_for_an_uncertain_call_of_its_source() -> None:
    uncertain = {"source": "f.1", "key": "k9", "tool": "send", "args": {"to": "x"}, "happened": False, "error": "down"}

    async with at_desk(SEND, PAY) as desk:
        await desk.ledger.append(desk.lease, [drafted("call_inherited", uncertain, "a")])
        with pytest.raises(CallUncertain) as reason:
            await admit(await desk.gate(), OTHER)
        assert reason.value.keys == ("k9",)
