"""Further attempts at a call: after failures that may pass, within its limits, each on record before it is made."""

import asyncio
import threading
from typing import Any

import pytest
from desk import Desk, at_desk

from planner_executor.graph.calls.gate import CallGate
from planner_executor.graph.calls.tool_call import Admitted, CallUncertain, Finished
from planner_executor.graph.plan.attempts import AttemptLimits
from planner_executor.graph.plan.schema import Step
from planner_executor.graph.record.budget import Budget
from planner_executor.graph.testing import LoggedTools, PassingClock, drafted
from planner_executor.tools.errors import NothingHappened, Transient

STEP = Step(id="a", objective="o", tool="send", attempts=3)
BUSY, NOTHING = Transient("busy"), NothingHappened("refused")


class HttpError(Exception):
    def __init__(self, status_code: int) -> None:
        self.status_code = status_code
        super().__init__(f"HTTP {status_code}")


def failing(error: Exception, times: int, **metadata: Any) -> Any:
    """Return a tool that fails so many times, and then answers."""
    left = [error] * times

    def work(**_: Any) -> str:
        if left:
            raise left.pop()
        return "done"

    return LoggedTools().tool("send", work, **metadata)


async def admitted(gate: CallGate, step: Step = STEP, **more: Any) -> Admitted:
    call = await gate.admit(step, "send", {}, {}, **more)
    assert isinstance(call, Admitted)
    return call


async def performed(desk: Desk, step: Step = STEP, **options: Any) -> Finished:
    gate = await desk.gate(clock=PassingClock().clock, **options)
    call = await admitted(gate, step)
    await gate.commit([], [call])
    return await gate.perform(call)


async def attempts(desk: Desk) -> int:
    return (await desk.kinds()).count("call_started")


@pytest.mark.parametrize(
    ("error", "effect", "again"),
    [
        (BUSY, "read", True),
        (HttpError(503), "read", True),
        (HttpError(403), "read", False),
        (ValueError("wrong"), "read", False),
        (NOTHING, "read", False),
        (TimeoutError(), "external", False),
        (BUSY, "external", False),
        (HttpError(503), "external", False),
        (NOTHING, "external", True),
    ],
)
async def test_a_call_is_made_again_if_its_failure_may_pass_and_it_cannot_have_had_an_effect(
    error: Exception, effect: str, again: bool
) -> None:
    async with at_desk(failing(error, 1, effect=effect)) as desk:
        status, kinds = (await performed(desk)).result.status, await desk.kinds()

    twice = ["call_started", "call_finished", "call_started"]
    assert (status, kinds) == (("succeeded", twice) if again else ("failed", ["call_started"]))


async def test_a_call_that_is_still_at_work_after_its_time_is_not_made_again() -> None:
    go = threading.Event()

    tool = LoggedTools().tool("send", lambda: go.wait(10), effect="read", timeout_s=0.01)
    async with at_desk(tool) as desk:
        finished = await performed(desk)
        go.set()
        attempt, error = (await attempts(desk), str(finished.result.error))

    assert attempt == 1 and "may still be at work" in error


@pytest.mark.parametrize(("times", "status", "attempt"), [(2, "succeeded", 3), (3, "failed", 3), (9, "failed", 3)])
async def test_a_call_is_made_as_often_as_its_step_allows(times: int, status: str, attempt: int) -> None:
    async with at_desk(failing(BUSY, times, effect="read")) as desk:
        finished = await performed(desk)
        assert (finished.result.status, await attempts(desk), finished.is_passing) == (
            status,
            attempt,
            status == "failed",
        )


async def test_each_attempt_is_on_record_with_its_number_and_the_failure_that_another_follows() -> None:
    async with at_desk(failing(BUSY, 1, effect="read")) as desk:
        await performed(desk, budget=Budget(wall_s=60))
        started, failed, second = [event.payload for event in await desk.ledger.events(desk.run)][1:]

    assert (started.get("attempt", 1), second["attempt"], started["key"]) == (1, 2, second["key"])
    assert failed["again"] is True and failed["worked_s"] is not None


async def test_waits_grow_from_the_backoff_of_the_limits() -> None:
    clock = PassingClock()

    async with at_desk(failing(BUSY, 2, effect="read")) as desk:
        gate = await desk.gate(clock=clock.clock, limits=AttemptLimits(backoff_s=2))
        await gate.perform(await admitted(gate))

    assert clock.waits == [2.0, 4.0]


@pytest.mark.parametrize(("calls", "attempt"), [(1, 1), (2, 2)])
async def test_a_failure_stands_if_the_budget_has_no_room_for_another_attempt(calls: int, attempt: int) -> None:
    async with at_desk(failing(BUSY, 9, effect="read")) as desk:
        finished = await performed(desk, budget=Budget(tool_calls=calls))
        assert (finished.result.status, await attempts(desk)) == ("failed", attempt)


async def test_further_attempts_begin_no_further_step() -> None:
    async with at_desk(failing(BUSY, 2, effect="read")) as desk:
        assert (await performed(desk, budget=Budget(steps=1))).result.status == "succeeded"


async def test_a_second_attempt_at_an_effect_keeps_the_turn_of_the_first() -> None:
    other = Step(id="b", objective="o", tools=("send",), max_calls=9)

    async with at_desk(failing(NOTHING, 1)) as desk:
        gate = await desk.gate(clock=PassingClock().clock)
        first, second = await admitted(gate), await admitted(gate, other)
        await gate.commit_in_turn(first)
        finished = await gate.perform(first)
        assert second.queued and not gate.effects.take_turn(second.call)
        assert finished.result.status == "succeeded"


@pytest.mark.parametrize(
    ("failures", "next_attempt"),
    [([True], 2), ([True, True], 3), ([False], 1), ([True, False], 1)],
    ids=["died before the second", "died before the third", "the first was final", "the second was final"],
)
async def test_the_next_process_counts_on_from_a_failure_that_another_attempt_was_to_follow(
    failures: list[bool], next_attempt: int
) -> None:
    async with at_desk(failing(BUSY, 0)) as desk:
        for again in failures:
            gate = await desk.gate()
            await gate.commit([], [await admitted(gate)])
            failed = {"call": 0, "status": "failed", "error": "busy", "nothing_happened": True, "again": again}
            await desk.ledger.append(desk.lease, [drafted("call_finished", failed, "a")])
        assert (await admitted(await desk.gate())).attempt == next_attempt


async def test_an_attempt_without_an_outcome_is_made_again_under_its_number() -> None:
    failed = {"call": 0, "status": "failed", "error": "busy", "again": True}

    async with at_desk(failing(BUSY, 0, effect="read")) as desk:
        gate = await desk.gate()
        await gate.commit([], [await admitted(gate)])
        await desk.ledger.append(desk.lease, [drafted("call_finished", failed, "a")])
        gate = await desk.gate()
        await gate.commit([], [await admitted(gate)])
        assert (await admitted(await desk.gate())).attempt == 2


async def test_the_failed_attempt_of_an_item_is_no_outcome_if_another_was_to_follow() -> None:
    step = Step(id="a", objective="o", tool="send", for_each=[1], attempts=3)
    failed = {"call": 0, "item": 0, "status": "failed", "error": "busy", "again": True}

    async with at_desk(failing(BUSY, 0, effect="read")) as desk:
        gate = await desk.gate()
        await gate.commit([], [await admitted(gate, step, item=0)])
        await desk.ledger.append(desk.lease, [drafted("call_finished", failed, "a")])
        assert (await admitted(await desk.gate(), step, item=0)).attempt == 2


@pytest.mark.parametrize(
    ("step", "timeout_s"),
    [
        (Step(id="a", objective="o", tool="send", timeout_s=2), 2),
        (Step(id="a", objective="o", tools=("send",), timeout_s=2), 5),
    ],
    ids=["of a call", "of all turns of a model"],
)
async def test_the_time_limit_of_a_step_is_that_of_its_call_or_of_all_turns(step: Step, timeout_s: float) -> None:
    tool = LoggedTools().tool("send", effect="read", timeout_s=5, attempts=4)
    async with at_desk(tool) as desk:
        assert (
            await admitted(await desk.gate(limits=AttemptLimits(timeout_s=9, attempts=2)), step)
        ).limits == AttemptLimits(timeout_s=timeout_s, attempts=2)


async def test_a_call_that_is_cancelled_leaves_an_identical_one_uncertain() -> None:
    begun = asyncio.Event()

    async def forever(**_: Any) -> None:
        begun.set()
        await asyncio.Event().wait()

    tool = LoggedTools().tool("send", is_async=True)
    tool.coroutine = forever
    async with at_desk(tool) as desk:
        gate = await desk.gate()
        first, second = await admitted(gate), await admitted(gate, Step(id="b", objective="o", tools=("send",)))
        await gate.commit([], [first])
        task = asyncio.create_task(gate.perform(first))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        gate.effects.end_turn(first.call)
        with pytest.raises(CallUncertain):
            await gate.commit_in_turn(second)


@pytest.mark.parametrize(("is_timed", "status"), [(True, "failed"), (False, "succeeded")])
async def test_time_limits_are_kept_by_the_clock_unless_the_tools_are_those_of_a_replay(
    is_timed: bool, status: str
) -> None:
    ended = threading.Event()

    tool = LoggedTools().tool("send", lambda: ended.wait(0.05), effect="external", timeout_s=0.001)
    async with at_desk(tool) as desk:
        desk.toolbox.is_timed = is_timed
        assert (await performed(desk)).result.status == status
