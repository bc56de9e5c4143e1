"""A call under a cap across runs takes its part of it, or is put off on record."""

import asyncio

import pytest
from desk import at_desk

from planner_executor.graph.calls.caps import UNVERIFIED, Caps
from planner_executor.graph.calls.gate import CallGate
from planner_executor.graph.calls.tool_call import Admitted
from planner_executor.graph.errors import CapReachedError
from planner_executor.graph.plan.schema import Step
from planner_executor.graph.policy.day_limits import DayLimits
from planner_executor.graph.policy.policy import Policy
from planner_executor.graph.record.budget import Budget
from planner_executor.graph.record.events import CapReached
from planner_executor.graph.testing import LoggedTools, PassingClock

NOW = 1000.0


def caps(calls: int) -> Caps:
    return Caps(Policy(per_day=DayLimits(Budget(calls={"send": calls}))), UNVERIFIED)


async def admitted(gate: CallGate, step: str) -> Admitted:
    call = await gate.admit(Step(id=step, objective="o", tools=("send",), max_calls=9), "send", {}, {})
    assert isinstance(call, Admitted)
    return call


@pytest.mark.parametrize("calls", [1, 0])
async def test_a_call_over_a_cap_is_not_begun_but_put_off_on_record_with_the_time(calls: int) -> None:
    async with at_desk(LoggedTools().tool("send")) as desk:
        gate = await desk.gate(caps=caps(calls), clock=PassingClock(NOW).clock)
        first = await admitted(gate, "a")
        if calls:
            await gate.commit_in_turn(first)
            assert await desk.kinds() == ["call_started"]
            return
        waiting = asyncio.create_task(gate.commit_in_turn(await admitted(gate, "b")))

        with pytest.raises(CapReachedError) as reached:
            await gate.commit_in_turn(first)

        with pytest.raises(CapReachedError):  # the turn of the first is free, and the cap holds for the second too
            await waiting
        put_off = (await desk.last()).data
        assert await desk.kinds() == ["cap_reached"] * 2
        assert isinstance(put_off, CapReached) and put_off.cap == reached.value.cap == "calls.send"
        assert put_off.due_at == pytest.approx(NOW + reached.value.wait_s, abs=60)
