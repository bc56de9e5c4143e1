"""Runs of one family at the same time: what one of them has begun the others know before they begin the same."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal

import pytest
from desk import Desk, at_desk

from planner_executor.graph.calls.gate import CallGate
from planner_executor.graph.calls.tool_call import Admitted, CallHeld, CallUncertain, ToolCall
from planner_executor.graph.calls.toolbox import Toolbox
from planner_executor.graph.ledger.protocol import Elsewhere
from planner_executor.graph.ledger.sqlite.memory import MemoryLedger
from planner_executor.graph.plan.attempts import NO_LIMITS
from planner_executor.graph.plan.schema import Step
from planner_executor.graph.record.call import Call
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.run_pass import Pass
from planner_executor.graph.testing import LoggedTools, drafted
from planner_executor.tools.errors import NothingHappened

HANGS_AFTER_S = 5
STEP = Step(id="a", objective="o", tools=("send", "read"), max_calls=9)
OTHER = Step(id="b", objective="o", tools=("send", "read"), max_calls=9)
SEND, READ = LoggedTools().tool("send"), LoggedTools().tool("read", effect="read")
Became = Literal["no outcome", "happened", "nothing happened"]


def sending(work: Any) -> Any:
    return LoggedTools().tool("send", work)


def broken(error: Exception) -> Any:
    def work(**_: Any) -> None:
        raise error

    return sending(work)


@asynccontextmanager
async def forked(desk: Desk) -> AsyncIterator[Desk]:
    """Begin a fork of the run on another thread, and own it too."""
    begun = drafted("run_started", {"goal": "g", "constraints": []}), drafted("run_forked", {"source": desk.run.id})
    run = await desk.ledger.open_run("f", begun)
    async with desk.ledger.owned(run) as lease:
        yield Desk(desk.ledger, lease, desk.toolbox)


async def admit(gate: CallGate, step: Step = STEP, tool: str = "send") -> Admitted:
    admitted = await gate.admit(step, tool, {"to": "x"}, {})
    assert isinstance(admitted, Admitted)
    return admitted


async def begin(desk: Desk, became: Became, step: Step = STEP) -> Admitted:
    """Begin the call, and let this become of it."""
    gate = await desk.gate()
    call = await admit(gate, step)
    await gate.commit([], [call])
    if became != "no outcome":
        await gate.commit([await gate.perform(call)], [])
    return call


async def test_a_call_with_an_effect_is_shared_if_its_run_has_a_fork() -> None:
    async with at_desk(SEND, READ) as desk:
        gate = await desk.gate()
        assert (gate.effects.has_forks, gate.effects.seen) == (False, {})
        assert not (await admit(gate)).is_shared
        async with forked(desk) as fork:
            for one in (desk, fork):
                gate = await one.gate()
                assert [(await admit(gate, tool=tool)).is_shared for tool in ("send", "read")] == [True, False]


@pytest.mark.parametrize(
    ("became", "reason"), [("no outcome", CallUncertain), ("happened", CallHeld), ("nothing happened", None)]
)
async def test_a_call_that_the_other_run_began_meanwhile_is_looked_at_before_it_is_begun(
    became: Became, reason: type[Exception] | None
) -> None:
    tool = SEND if became == "happened" else broken(NothingHappened("busy"))

    async with at_desk(tool) as desk, forked(desk) as fork, asyncio.timeout(HANGS_AFTER_S):
        gate = await desk.gate()
        call = await admit(gate)
        await begin(fork, became)
        if reason is None:
            await gate.commit_in_turn(call)
        else:
            with pytest.raises(reason):
                await gate.commit_in_turn(call)
        assert ("call_started" in await desk.kinds()) is (reason is None)


async def test_what_may_have_happened_is_settled_before_what_happened_is_shown() -> None:
    async with at_desk(SEND) as desk, forked(desk) as fork:
        gate = await desk.gate()
        call = await admit(gate)
        await begin(fork, "happened")
        lost = await begin(fork, "no outcome", OTHER)
        with pytest.raises(CallUncertain) as reason:
            await gate.commit_in_turn(call)
        assert reason.value.keys == (lost.call.key,)


async def test_what_was_known_of_the_other_run_is_no_reason_to_look_again() -> None:
    async with at_desk(broken(NothingHappened("busy"))) as desk, forked(desk) as fork:
        await begin(fork, "nothing happened")
        gate = await desk.gate()
        call = await admit(gate)
        assert gate.effects.seen == {RunKey("f", 1): len(await fork.ledger.events(fork.run))}
        async with asyncio.timeout(HANGS_AFTER_S):
            await gate.commit_in_turn(call)


async def test_of_two_identical_calls_that_look_again_one_is_begun_and_the_other_waits_for_what_becomes_of_it() -> None:
    made: list[str] = []

    def work(**_: Any) -> None:
        made.append("sent")
        raise NothingHappened("busy") if len(made) == 1 else ValueError("lost")

    async with at_desk(sending(work)) as desk, forked(desk) as fork, asyncio.timeout(HANGS_AFTER_S):
        gate = await desk.gate()

        async def make(call: Admitted) -> str | None:
            await gate.commit_in_turn(call)
            return (await gate.perform(call)).result.error

        calls = [await admit(gate), await admit(gate, OTHER)]
        await begin(fork, "nothing happened")
        ended = await asyncio.gather(*map(make, calls), return_exceptions=True)

    assert sorted(type(one).__name__ for one in ended) == ["CallUncertain", "str"]
    assert len(made) == 2, "one by the fork, and one here"


async def inherit(fork: Desk, *calls: Admitted) -> None:
    """Let the fork have these calls on record as uncertain."""
    for one in calls:
        told = {"source": "t.1", "key": one.call.key, "tool": "send", "args": {"to": "x"}, "happened": False, "seq": 2}
        await fork.ledger.append(fork.lease, [drafted("call_inherited", told, one.call.step)])


async def uncertain(desk: Desk, call: ToolCall) -> list[str]:
    effects = (await desk.gate()).effects
    await effects.look_up("send")
    return [known.key for known in effects.uncertain(call)]


@pytest.mark.parametrize("happened", [True, False])
async def test_an_inherited_call_stands_as_its_run_has_it_now(happened: bool) -> None:
    async with at_desk(SEND) as desk, forked(desk) as fork:
        call = await begin(desk, "no outcome")
        await inherit(fork, call)
        assert await uncertain(fork, call.call) == [call.call.key]

        settled = {"key": call.call.key, "happened": happened, "result": None}
        decided = {"decision": "settle", "digest": None, "binding": None, "settled": [settled]}
        await desk.ledger.append(desk.lease, [drafted("decided", decided)])

        assert await uncertain(fork, call.call) == []
        effects = (await fork.gate()).effects
        await effects.look_up("send")
        assert [one.key for one in effects.happened_elsewhere(call.call)] == [call.call.key] * happened


class Unread(MemoryLedger):
    """Knows calls of other runs that it has not read, as a replay does."""

    def __init__(self, *calls: Call) -> None:
        super().__init__()
        self.calls = calls

    async def calls_elsewhere(self, _run: RunKey, _forked_from: str | None = None) -> Elsewhere:
        """See `CheckedReader`."""
        return Elsewhere(self.calls)


async def test_an_inherited_call_stands_as_the_fork_has_it_where_its_run_is_not_read() -> None:
    happened = StepResult("succeeded")
    told = Call("k", "a", "send", {"to": "x"}, "d", repeatable=False, within=Pass(0), number=1, run="t.1")
    ledger = Unread(told._replace(result=happened, settled=True), told._replace(key="other"))
    run = await ledger.open_run("f", [drafted("run_started", {"goal": "g", "constraints": []})])
    async with ledger.owned(run) as lease:
        fork = Desk(ledger, lease, Toolbox([SEND]))
        args = {"to": "x"}
        call = ToolCall("k", "a", 1, "send", args, "d", same_digest=(await fork.gate()).effects.digest("send", args))
        await inherit(fork, Admitted(call, NO_LIMITS))
        assert await uncertain(fork, call) == ["k", "other"]
    await ledger.close()


async def test_inherited_calls_come_in_the_order_of_the_forks_record_even_if_their_run_is_read() -> None:
    steps = [Step(id=name, objective="o", tools=("send",), max_calls=9) for name in ("a", "b", "c")]

    async with at_desk(SEND) as desk, forked(desk) as fork:
        gate = await desk.gate()
        calls = [await admit(gate, step) for step in steps]
        await gate.commit([], calls)
        await inherit(fork, *calls[::-1])
        assert await uncertain(fork, calls[0].call) == [one.call.key for one in calls[::-1]]
