"""What the gate lets pass, and what waits: for a person, for a turn, for a budget; each wait is on record once."""

import asyncio
from contextlib import nullcontext
from typing import Any

import pytest
from desk import Desk, at_desk

from planner_executor.graph.calls.gate import CallGate
from planner_executor.graph.calls.meter import LimitReached
from planner_executor.graph.calls.tool_call import Admitted, CallHeld, CallUncertain, Finished
from planner_executor.graph.errors import StaleRunError
from planner_executor.graph.plan.schema import Step
from planner_executor.graph.policy.grants import Refused
from planner_executor.graph.policy.policy import Policy, ToolRule
from planner_executor.graph.record.budget import Budget
from planner_executor.graph.record.events import Event, StepUncertain
from planner_executor.graph.record.trust_label import USER, TrustLabel
from planner_executor.graph.testing import LoggedTools, drafted
from planner_executor.tools.call_progress import CallProgress, progress_listener
from planner_executor.tools.errors import NothingHappened

STEP = Step(id="a", objective="o", tools=("send", "read"), max_calls=9)
OTHER = Step(id="b", objective="o", tools=("send", "read"), max_calls=9)
HANGS_AFTER_S = 5
ONE_CALL = Step(id="a", objective="o", tool="send", args={"to": "x"})
PAGE = TrustLabel("untrusted", ("page",))
SEND = LoggedTools().tool("send")
READ = LoggedTools().tool("read", effect="read")


def broken(error: Exception, **metadata: Any) -> Any:
    def work(**_: Any) -> None:
        raise error

    return LoggedTools().tool("send", work, **metadata)


DOWN = broken(ValueError("down"))


async def admit(gate: CallGate, step: Step = STEP, tool: str = "send", to: str = "x", **more: Any) -> Admitted:
    admitted = await gate.admit(step, tool, {"to": to}, {}, **more)
    assert isinstance(admitted, Admitted)
    return admitted


async def made(desk: Desk, step: Step = STEP, tool: str = "send", to: str = "x") -> Admitted:
    """Make a call, and write its outcome."""
    gate = await desk.gate()
    call = await admit(gate, step, tool, to)
    await gate.commit([], [call])
    await gate.commit([await gate.perform(call)], [])
    return call


async def started(desk: Desk, step: Step = STEP, to: str = "x") -> Admitted:
    """Write the intent of a call, as a process does that ends in the middle of it."""
    gate = await desk.gate()
    call = await admit(gate, step, to=to)
    await gate.commit([], [call])
    return call


async def waits(desk: Desk, *steps: Step, **options: Any) -> None:
    """Let a new pass over the plan ask for the call of each step, which has to wait for a person."""
    gate = await desk.gate(**options)
    for step in steps or (STEP,):
        with pytest.raises((CallHeld, CallUncertain)):
            await admit(gate, step)


async def noted(desk: Desk, kind: str) -> list[Event]:
    return [event for event in await desk.ledger.events(desk.run) if event.kind == kind]


async def turns() -> None:
    """Let the event loop do what it can."""
    for _ in range(50):
        await asyncio.sleep(0)


async def test_a_refusal_is_on_record_once_however_often_it_is_asked_for() -> None:
    async with at_desk(SEND) as desk:
        for _ in range(2):
            with pytest.raises(Refused):
                await admit(await desk.gate(), Step(id="a", objective="o"))
        assert await desk.kinds() == ["call_refused"]


async def test_a_call_that_the_policy_denies_is_refused_whoever_approved_it() -> None:
    async with at_desk(SEND) as desk:
        gate = await desk.gate(policy=Policy(tools={"send": ToolRule("deny")}))
        with pytest.raises(Refused, match="the policy denies send"):
            await admit(gate)


async def test_a_call_counts_against_the_budget_before_it_is_made_and_so_does_its_repetition() -> None:
    async with at_desk(SEND, READ) as desk:
        gate = await desk.gate(budget=Budget(tool_calls=1))
        call = await admit(gate, tool="read")
        with pytest.raises(LimitReached):
            await admit(gate, tool="read")
        with pytest.raises(LimitReached):
            gate.again(call)


async def test_a_call_begins_its_step_and_a_models_call_begins_none() -> None:
    async with at_desk(SEND, READ) as desk:
        gate = await desk.gate(budget=Budget(steps=1))
        await admit(gate, OTHER)
        await admit(gate, ONE_CALL)
        with pytest.raises(LimitReached):
            await admit(gate, Step(id="c", objective="o", tool="send", args={"to": "y"}), to="y")


async def test_a_step_that_was_begun_in_an_earlier_pass_is_not_begun_again() -> None:
    step = Step(id="a", objective="o", tool="read", args={"to": "x"}, for_each=[1, 2])

    async with at_desk(READ) as desk:
        gate = await desk.gate()
        first = await admit(gate, step, "read", item=0)
        await gate.commit([], [first])
        later = await desk.gate(budget=Budget(steps=1))
        await admit(later, step, "read", item=1)
        (await desk.gate(budget=Budget(steps=1))).again(first)


async def test_a_call_has_a_number_only_if_a_model_makes_it() -> None:
    async with at_desk(SEND, READ) as desk:
        gate = await desk.gate()
        own = Step(id="b", objective="o", tool="send", args={"to": "z"})
        calls = [await admit(gate), await admit(gate, to="y"), await admit(gate, own, to="z")]
        assert [call.call.number for call in calls] == [1, 2, 0]


async def test_only_identical_calls_with_an_effect_wait_for_one_another() -> None:
    async with at_desk(SEND, READ) as desk:
        gate = await desk.gate()
        calls = [("read", "x"), ("read", "x"), ("send", "x"), ("send", "x"), ("send", "y")]
        assert [(await admit(gate, tool=tool, to=to)).queued for tool, to in calls] == [
            False,
            False,
            False,
            True,
            False,
        ]


async def test_a_call_with_an_effect_that_waits_for_its_rate_takes_its_turn_when_it_is_about_to_be_made() -> None:
    async with at_desk(SEND, READ) as desk:
        gate = await desk.gate(rates={"send": 120, "read": 120})
        calls = [await admit(gate, tool=tool, to=to) for tool in ("send", "read") for to in ("x", "y")]
        assert [(call.wait_s, call.queued) for call in calls] == [(0.0, False), (0.5, True), (0.0, False), (0.5, False)]


async def test_the_intent_of_a_call_is_written_in_its_turn_and_not_before() -> None:
    async with at_desk(SEND, READ) as desk:
        gate = await desk.gate()
        first, second = await admit(gate), await admit(gate, OTHER)
        kinds = []
        async with asyncio.timeout(HANGS_AFTER_S):
            await gate.commit_in_turn(first)
            waiting = asyncio.create_task(gate.commit_in_turn(second))
            await turns()
            kinds.append(await desk.kinds())
            await gate.commit([await gate.perform(first)], [])
            await waiting
            kinds.append(await desk.kinds())
        assert kinds == [["call_started"], ["call_started", "call_finished", "call_started"]]


async def test_the_intent_of_a_call_is_not_written_before_its_rate_allows_it() -> None:
    async with at_desk(SEND, READ) as desk:
        gate = await desk.gate(rates={"read": 0.01})
        await admit(gate, tool="read")
        waiting = asyncio.create_task(gate.commit_in_turn(await admit(gate, tool="read")))
        await turns()
        waiting.cancel()
        assert await desk.kinds() == []


async def test_a_call_that_waited_for_its_turn_is_not_made_if_the_one_before_it_may_have_happened() -> None:
    async with at_desk(DOWN, READ) as desk:
        gate = await desk.gate()
        first, second = await admit(gate), await admit(gate, OTHER)
        await gate.commit_in_turn(first)
        await gate.commit([await gate.perform(first)], [])
        with pytest.raises(CallUncertain) as reason:
            await gate.commit_in_turn(second)
        assert reason.value.keys == (first.call.key,)
        assert await desk.kinds() == ["call_started", "call_finished", "step_uncertain"]


async def test_a_call_that_could_not_be_started_gives_its_turn_to_the_next() -> None:
    async with at_desk(SEND, READ) as desk:
        gate = await desk.gate()
        first, second = await admit(gate), await admit(gate, OTHER)
        await desk.revise(1)
        with pytest.raises(StaleRunError):
            await gate.commit([], [first])
        async with asyncio.timeout(HANGS_AFTER_S):
            assert await gate.effects.wait_for_turn(second.call) == []


@pytest.mark.parametrize("asks", [True, False])
async def test_untrusted_arguments_of_an_effect_are_shown_to_a_person_unless_nobody_is_asked(asks: bool) -> None:
    async with at_desk(SEND, READ) as desk:
        gate = await desk.gate(asks=asks)
        if asks:
            with pytest.raises(CallHeld, match="its arguments come from untrusted results"):
                await admit(gate, given=PAGE)
        else:
            await admit(gate, given=PAGE)
        assert await desk.kinds() == (["step_held"] if asks else [])


async def test_what_a_held_call_may_rest_on_is_written_before_it() -> None:
    async with at_desk(SEND, READ) as desk:
        gate, before = await desk.gate(), list[list[str]]()

        async def write_ended() -> None:
            before.append(await desk.kinds())

        for name, block in (("x", gate.resting_on(write_ended)), ("y", nullcontext())):
            with block, pytest.raises(CallHeld):
                await admit(gate, to=name, given=PAGE)
        assert (before, await desk.kinds()) == ([[]], ["step_held"] * 2)


async def test_a_held_call_is_on_record_once_for_each_revision() -> None:
    async with at_desk(SEND, READ) as desk:
        for _ in range(2):
            with pytest.raises(CallHeld):
                await admit(await desk.gate(), given=PAGE)
        await desk.revise(1)
        with pytest.raises(CallHeld):
            await admit(await desk.gate(), given=PAGE)
        assert await desk.kinds() == ["step_held", "plan_revised", "step_held"]


async def test_a_call_that_a_person_has_seen_is_held_no_more() -> None:
    async with at_desk(SEND, READ) as desk:
        with pytest.raises(CallHeld) as held:
            await admit(await desk.gate(), given=PAGE)
        seen = {"decision": "settle", "digest": None, "binding": None, "steps": [held.value.key]}
        await desk.ledger.append(desk.lease, [drafted("decided", seen)])
        assert (await admit(await desk.gate(), given=PAGE)).call.args == {"to": "x"}


async def test_a_call_that_happened_in_another_run_is_shown_before_it_happens_again() -> None:
    async with at_desk(SEND, READ) as desk:
        key = (await started(desk)).call.key
        await desk.happened(key)
        async with desk.next_run() as later:
            with pytest.raises(CallHeld, match="the same call happened before"):
                await admit(await later.gate())
            (held,) = await noted(later, "step_held")
            key, before = (key, held.payload["before"])

    assert [(call["key"], call["run"]) for call in before] == [(key, "t.1")]


async def test_a_wait_for_an_uncertain_call_is_on_record_once_for_each_revision() -> None:
    async with at_desk(SEND, READ) as desk:
        key = (await started(desk)).call.key
        await waits(desk)
        await waits(desk)
        await desk.revise(1)
        await waits(desk)
        key, waiting = (key, await noted(desk, "step_uncertain"))

    assert [event.payload["calls"] for event in waiting] == [[{"key": key}]] * 2


async def test_a_wait_is_on_record_anew_when_more_calls_have_become_uncertain() -> None:
    async with at_desk(SEND, READ) as desk:
        gate = await desk.gate()
        calls = [await admit(gate), await admit(gate, OTHER)]
        await gate.commit([], calls[:1])
        await waits(desk, Step(id="c", objective="o", tools=("send",)))
        await gate.commit([], calls[1:])
        await waits(desk, Step(id="c", objective="o", tools=("send",)))
        assert [len(event.payload["calls"]) for event in await noted(desk, "step_uncertain")] == [1, 2]


async def test_a_wait_for_a_call_of_another_run_is_on_record_once_until_that_call_is_begun_again() -> None:
    async with at_desk(SEND, READ) as desk:
        gate = await desk.gate()
        call = await admit(gate)
        await gate.commit([], [call])
        async with desk.next_run() as later:
            await waits(later)
            await waits(later)
            await gate.commit([], [call])
            await waits(later)
            (first,), (second,) = [event.payload["calls"] for event in await noted(later, "step_uncertain")]

    assert (first["run"], second["run"]) == ("t.1", "t.1")
    assert first["seq"] < second["seq"]


async def test_a_wait_names_the_failure_of_another_runs_call() -> None:
    async with at_desk(DOWN, READ) as desk:
        await made(desk)
        async with desk.next_run() as later:
            await waits(later)
            (waiting,) = await noted(later, "step_uncertain")
            assert isinstance(waiting.data, StepUncertain)
            assert [(call.run, call.step, call.error, call.unmet) for call in waiting.data.calls] == [
                ("t.1", "a", "ValueError: down", None)
            ]


async def test_a_call_that_a_person_said_happened_stands_for_the_same_call_of_another_step() -> None:
    async with at_desk(SEND, READ) as desk:
        await desk.happened((await started(desk)).call.key, "the receipt")
        recalled = await (await desk.gate()).admit(OTHER, "send", {"to": "x"}, {}, PAGE)
        assert isinstance(recalled, Finished)
        assert (recalled.value, recalled.call.label) == ("the receipt", USER)


async def test_a_recalled_result_is_as_trusted_as_its_tool() -> None:
    tool = LoggedTools().tool("send", effect="read", trusted=False)

    async with at_desk(tool, READ) as desk:
        await made(desk)
        recalled = await (await desk.gate()).admit(STEP, "send", {"to": "x"}, {})
        assert isinstance(recalled, Finished)
        assert recalled.call.label.untrusted


async def test_a_steps_own_call_that_failed_without_an_effect_is_made_again() -> None:
    async with at_desk(broken(NothingHappened("busy"))) as desk:
        await made(desk, ONE_CALL)
        assert (await admit(await desk.gate(), ONE_CALL)).call.number == 0


async def test_a_tools_words_of_progress_reach_the_listener() -> None:
    heard: list[tuple[str, float]] = []

    async with at_desk(LoggedTools().tool("send", lambda **_: tell(0.5)), READ) as desk:
        gate = await desk.gate(on_progress=lambda call, progress: heard.append((call.key, progress.done)))
        call = await admit(gate)
        await gate.perform(call)
        await asyncio.sleep(0)
        assert heard == [(call.call.key, 0.5)]


async def test_progress_that_nobody_listens_to_is_no_failure() -> None:
    async with at_desk(LoggedTools().tool("send", lambda **_: tell(0.5)), READ) as desk:
        gate = await desk.gate()
        assert (await gate.perform(await admit(gate))).value == "told"


async def test_progress_gives_a_call_more_time() -> None:
    async def forever(**_: Any) -> None:
        tell(0.5)
        await asyncio.Event().wait()

    tool = LoggedTools().tool("send", is_async=True, timeout_s=0.01)
    tool.coroutine = forever

    async with at_desk(tool, READ) as desk:
        gate = await desk.gate()
        assert "its last sign of progress" in (await gate.perform(await admit(gate))).result.error


def tell(done: float) -> str:
    listener = progress_listener()
    assert listener is not None
    listener(CallProgress(done))
    return "told"
