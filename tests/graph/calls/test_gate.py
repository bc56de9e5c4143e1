"""The choke point: intent on disk, effect, outcome; whatever a tool does ends in data."""

import asyncio
import gc
import threading
import time
import weakref
from collections.abc import Awaitable
from typing import Any

import pytest
from clocked_loop import ClockedLoop
from desk import Desk, at_desk
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import HumanMessage
from langchain_core.runnables.config import set_config_context
from langchain_core.tools import StructuredTool, ToolException

from planner_executor.graph.calls.gate import CallGate
from planner_executor.graph.calls.model_call import ModelCall
from planner_executor.graph.calls.tool_call import Admitted, CallHeld, CallUncertain, Finished
from planner_executor.graph.calls.toolbox import Toolbox
from planner_executor.graph.chat_models.roles import role_model
from planner_executor.graph.errors import LeaseLostError, MessageWaitingError, StaleRunError
from planner_executor.graph.ledger.protocol import Lease
from planner_executor.graph.ledger.sqlite.memory import MemoryLedger
from planner_executor.graph.plan.schema import Step
from planner_executor.graph.policy.grants import Refused
from planner_executor.graph.record.events import Draft
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.trust_label import TrustLabel
from planner_executor.graph.record.values import keep
from planner_executor.graph.testing import LoggedTools, ScriptedModel, drafted
from planner_executor.tools.errors import NothingHappened

STEP = Step(id="a", objective="o", tools=("send", "read"), max_calls=9)


ON_A_CLOCK = ("asyncio", {"loop_factory": ClockedLoop})
"""An event loop on which the time of a call begins after its tool."""


async def admit(gate: CallGate, step: Step, tool: str, args: Any) -> Admitted:
    """Return a call that nothing is known of yet."""
    admitted = await gate.admit(step, tool, args, {})
    assert isinstance(admitted, Admitted)
    return admitted


async def perform(tool: Any, **args: Any) -> Finished:
    """Make one call of a tool through the gate."""

    async with at_desk(tool) as desk:
        gate = await desk.gate()
        name = next(iter(desk.toolbox))
        return await gate.perform(await admit(gate, Step(id="a", objective="o", tools=(name,)), name, args))


def raising(error: BaseException, is_async: bool = False, **metadata: Any) -> Any:
    def work(**_: Any) -> None:
        raise error

    return LoggedTools().tool("send", work, is_async=is_async, **metadata)


async def test_a_call_has_the_value_and_the_times_of_the_tool() -> None:
    finished = await perform(LoggedTools().tool("send", lambda to: ("sent", to)), to="x")

    assert finished.value == ["sent", "x"]
    assert finished.result.status == "succeeded"
    assert finished.result.value == ["sent", "x"]
    assert finished.result.started_at is not None
    assert finished.result.ended_at is not None
    assert finished.result.started_at <= finished.result.ended_at <= time.time() + 60


async def test_a_large_value_is_kept_whole_and_shown_by_its_artifact() -> None:
    finished = await perform(LoggedTools().tool("send", lambda: "x" * 10_000))

    assert finished.value == "x" * 10_000
    assert finished.result.value is None
    assert finished.result.artifact is not None


@pytest.mark.parametrize("is_async", [True, False])
@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ValueError("no luck"), "ValueError: no luck"),
        (ValueError(), "ValueError"),
        (ToolException("try other words"), "try other words"),
        (NothingHappened("refused"), "refused"),
        (TimeoutError("the server is slow"), "TimeoutError: the server is slow"),
        (ExceptionGroup("several", [ValueError()]), "ExceptionGroup: several (1 sub-exception)"),
        (RecursionError("deep"), "RecursionError: deep"),
    ],
)
async def test_whatever_a_tool_raises_is_a_failed_result(error: BaseException, words: str, is_async: bool) -> None:
    finished = await perform(raising(error, is_async))

    assert (finished.result.status, finished.result.error) == ("failed", words)
    assert finished.nothing_happened == isinstance(error, NothingHappened)
    assert finished.value is None


@pytest.mark.parametrize("error", [SystemExit(1), StopIteration(), KeyboardInterrupt()])
async def test_a_sync_tool_cannot_end_the_process(error: BaseException) -> None:
    finished = await perform(raising(error))

    assert finished.result.status == "failed"
    assert type(error).__name__ in str(finished.result.error)


async def test_an_error_that_cannot_be_stored_is_told_as_far_as_it_can_be() -> None:
    error = (await perform(raising(ValueError("half \ud800 of it" + "x" * 10_000)))).result.error

    assert error is not None
    assert error.encode()
    assert len(error) == 2_000


@pytest.mark.parametrize(
    "value", [b"bytes", float("nan"), {1: 2}, {1, 2}, ValueError("as a result"), "\ud800"], ids=repr
)
async def test_a_result_that_cannot_be_kept_is_a_failure_that_may_have_happened(value: Any) -> None:
    finished = await perform(LoggedTools().tool("send", lambda: value))

    assert finished.result.status == "failed"
    assert not finished.nothing_happened


@pytest.mark.parametrize("is_async", [True, False])
async def test_a_tool_that_cancels_itself_has_failed(is_async: bool) -> None:
    finished = await perform(raising(asyncio.CancelledError(), is_async))

    assert finished.result.error == "the tool cancelled itself"
    assert not finished.nothing_happened and not finished.is_passing


async def test_a_tool_that_cancels_the_task_it_runs_in_has_failed() -> None:
    async def work(**_: Any) -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(0)

    given = StructuredTool(name="send", description="d", coroutine=work, args_schema={"properties": {}})

    assert (await perform(given)).result.error == "the tool cancelled itself"


@pytest.mark.parametrize("anyio_backend", [ON_A_CLOCK])
async def test_a_call_whose_caller_is_cancelled_is_no_result() -> None:
    stopped: list[str] = []

    async def forever() -> None:
        stopped.append("began")
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            stopped.append("cancelled")
            raise

    async with at_desk(
        StructuredTool(name="send", description="d", coroutine=forever, args_schema={"properties": {}}), READ
    ) as desk:
        gate = await desk.gate()
        task = asyncio.create_task(gate.perform(await admit(gate, STEP, "send", {})))
        while not stopped:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert stopped == ["began", "cancelled"]


READ = LoggedTools().tool("read", effect="read")


async def test_an_async_tool_that_takes_too_long_is_really_cancelled() -> None:
    ended: list[str] = []

    async def forever() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cancelled")

    schema = {"properties": {}}
    given = StructuredTool(
        name="send", description="d", coroutine=forever, args_schema=schema, metadata={"timeout_s": 0.25}
    )
    finished = await perform(given)

    assert ended == ["cancelled"]
    assert finished.result.error == "TimeoutError: no answer within 0.25 s"
    assert not finished.nothing_happened


async def test_a_sync_tool_that_takes_too_long_may_still_be_at_work_and_says_so() -> None:
    go = threading.Event()

    finished = await perform(LoggedTools().tool("send", lambda: go.wait(10), timeout_s=0.01))
    go.set()

    assert "may still be at work" in str(finished.result.error)
    assert finished.result.status == "failed"


async def test_a_tool_within_its_time_is_not_disturbed() -> None:
    assert (await perform(LoggedTools().tool("send", lambda: 1, is_async=True, timeout_s=60))).value == 1


async def test_the_key_of_a_call_is_the_same_across_attempts_and_revisions() -> None:
    async with at_desk(LoggedTools().tool("send"), READ) as desk:
        keys = []
        for revision in (1, 2):
            await desk.revise(revision)
            keys.append((await admit(await desk.gate(), STEP, "send", {"to": "x", "n": 1})).call.key)
            keys.append((await admit(await desk.gate(), STEP, "send", {"n": 1, "to": "x"})).call.key)
        assert len(set(keys)) == 1


async def test_the_key_of_a_call_tells_run_step_number_tool_and_arguments_apart() -> None:
    async with at_desk(LoggedTools().tool("send"), READ) as desk:
        other = Step(id="b", objective="o", tools=("send",))
        run = await desk.ledger.open_run("t", [drafted("run_started", {"goal": "g", "constraints": []})])
        once = [
            (STEP, "send", {"to": "x"}),
            (STEP, "send", {"to": "y"}),
            (STEP, "send", {"to": True}),
            (STEP, "send", {"to": 1}),
            (STEP, "read", {"to": "x"}),
            (other, "send", {"to": "x"}),
        ]
        calls = [await admit(await desk.gate(), *call) for call in once]
        gate = await desk.gate()
        calls += [await admit(gate, STEP, "send", {"to": "z"}) for _ in range(2)]
        async with desk.ledger.owned(run) as lease:
            calls.append(await admit(await Desk(desk.ledger, lease, desk.toolbox).gate(), STEP, "send", {"to": "x"}))
        keys = [call.call.key for call in calls]

    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("step", [Step(id="a", objective="o"), Step(id="a", objective="o", tool="read")])
async def test_a_step_may_call_no_other_tools_than_its_own(step: Step) -> None:
    async with at_desk(LoggedTools().tool("send"), READ) as desk:
        gate = await desk.gate()
        with pytest.raises(Refused):
            await admit(gate, step, "send", {})


@pytest.mark.parametrize("args", [{"n": "5"}, {}, {"n": 5, "extra": 1}, {"n": None}])
async def test_arguments_are_checked_once_more_when_references_are_resolved(args: dict[str, Any]) -> None:
    schema = {"properties": {"n": {"type": "integer"}}, "required": ["n"]}

    async with at_desk(LoggedTools().tool("send", schema=schema)) as desk:
        gate = await desk.gate()
        assert (await admit(gate, STEP, "send", {"n": 5})).call.args == {"n": 5}
        with pytest.raises(Refused):
            await admit(gate, STEP, "send", args)


def finished(call: Admitted, gate: CallGate) -> Awaitable[Finished]:
    return gate.perform(call)


async def test_outcomes_are_written_before_the_intents_they_make_ready() -> None:
    async with at_desk(LoggedTools().tool("send")) as desk:
        gate = await desk.gate()
        first, second = await admit(gate, STEP, "send", {"to": 1}), await admit(gate, STEP, "send", {"to": 2})
        await gate.commit([], [first])
        await gate.commit([await gate.perform(first), drafted("step_finished", {}, "b")], [second])
        assert gate.models.tally.sequence == (await desk.last()).seq
        assert await desk.kinds() == [
            "call_started",
            "call_finished",
            "step_finished",
            "call_started",
        ]


async def test_an_intent_says_what_is_about_to_happen() -> None:
    async with at_desk(LoggedTools().tool("send", effect="write"), READ) as desk:
        await desk.revise(3)
        gate = await desk.gate()
        await admit(gate, STEP, "read", {})
        call = await admit(gate, STEP, "send", {"to": "x"})
        await gate.commit([], [call])
        event = await desk.last()
        assert (event.payload["key"], "args_digest" in event.payload) == (call.call.key, False)
        event = event

    assert (event.kind, event.step) == ("call_started", "a")
    assert {name: event.payload[name] for name in ("call", "tool", "args", "effect", "repeatable", "revision")} == {
        "call": 2,
        "tool": "send",
        "args": {"to": "x"},
        "effect": "write",
        "repeatable": False,
        "revision": 3,
    }


@pytest.mark.parametrize(
    ("tool", "safe"),
    [
        (LoggedTools().tool("send"), False),
        (LoggedTools().tool("send", effect="write", idempotent=True), True),
        (LoggedTools().tool("send", effect="read"), True),
    ],
)
async def test_the_intent_of_a_call_that_may_not_be_repeated_survives_a_power_cut(tool: Any, safe: bool) -> None:
    drafts: list[Draft] = []

    class Watched(MemoryLedger):
        async def append(self, lease: Lease, written: Any, **more: Any) -> int:
            drafts.extend(written)
            return await super().append(lease, written, **more)

    ledger = Watched()
    run = await ledger.open_run("t", [drafted("run_started", {"goal": "g", "constraints": []})])
    async with ledger.owned(run) as lease:
        gate = await Desk(ledger, lease, Toolbox([tool])).gate()
        await gate.commit([], [await admit(gate, STEP, "send", {})])
    await ledger.close()

    assert [draft.safe for draft in drafts] == [safe]


async def test_an_intent_is_refused_when_a_decision_came_first() -> None:
    async with at_desk(LoggedTools().tool("send")) as desk:
        gate = await desk.gate()
        await desk.revise(2)
        with pytest.raises(StaleRunError):
            await gate.commit([], [await admit(gate, STEP, "send", {})])
        assert await desk.kinds() == ["plan_revised"]


async def test_what_has_happened_is_written_even_where_nothing_more_may_start() -> None:
    async with at_desk(LoggedTools().tool("send", lambda to: "x" * 10_000)) as desk:
        gate = await desk.gate()
        first, second = await admit(gate, STEP, "send", {"to": 1}), await admit(gate, STEP, "send", {"to": 2})
        await gate.commit([], [first])
        done = await gate.perform(first)
        await desk.ledger.append(desk.lease, [drafted("run_ended", {"status": "cancelled", "reason": "r"})])
        with pytest.raises(StaleRunError):
            await gate.commit([done], [second])
        recalled = await (await desk.gate()).admit(STEP, "send", {"to": 1}, {})
        assert isinstance(recalled, Finished)
        kinds, value = (await desk.kinds(), recalled.value)

    assert kinds == ["call_started", "run_ended", "call_finished"]
    assert value == "x" * 10_000


@pytest.mark.parametrize("message", ["pause", "cancel"])
async def test_while_a_message_waits_nothing_starts_and_what_has_happened_is_written(message: Any) -> None:
    async with at_desk(LoggedTools().tool("send")) as desk:
        gate = await desk.gate()
        first, second = await admit(gate, STEP, "send", {"to": 1}), await admit(gate, STEP, "send", {"to": 2})
        await gate.commit([], [first])
        done = await gate.perform(first)
        await desk.ledger.post(desk.run, message)
        with pytest.raises(MessageWaitingError):
            await gate.commit([done], [second])
        with pytest.raises(MessageWaitingError):
            await gate.commit([], [second])
        assert await desk.ledger.take_messages(desk.lease) == [message]
        await gate.commit([], [second])
        assert await desk.kinds() == ["call_started", "call_finished", "call_started"]


async def test_outcomes_alone_are_written_while_a_message_waits() -> None:
    async with at_desk(LoggedTools().tool("send")) as desk:
        gate = await desk.gate()
        call = await admit(gate, STEP, "send", {})
        await gate.commit([], [call])
        await desk.ledger.post(desk.run, "pause")
        await gate.commit([await gate.perform(call)], [])
        assert await desk.kinds() == ["call_started", "call_finished"]


async def test_under_an_outdated_lease_nothing_starts_is_made_ends_or_is_asked() -> None:
    tools = LoggedTools()

    ledger, model = MemoryLedger(), ScriptedModel(["an answer"])
    run = await ledger.open_run("t", [drafted("run_started", {"goal": "g", "constraints": []})])
    async with ledger.owned(run) as outdated:
        pass
    async with ledger.owned(run) as lease:
        desk = Desk(ledger, outdated, Toolbox([tools.tool("send")]))
        gate = await desk.gate()
        call = await admit(gate, STEP, "send", {})
        with pytest.raises(LeaseLostError):
            await gate.perform(call)
        done = Finished(call.call, StepResult("succeeded", value="sent"), keep("sent"))
        for ended, starting in (([], [call]), ([done], []), ([done], [call])):
            with pytest.raises(LeaseLostError):
                await gate.commit(ended, starting)
        with pytest.raises(LeaseLostError):
            await gate.models.ask(role_model(model), ModelCall("planner", "plan:1", [HumanMessage("x")]))
        await ledger.append(lease, [drafted("paused", {})])
        kinds = await desk.kinds()
    await ledger.close()
    assert (kinds, len(model.prompts)) == (["paused"], 0) and tools.calls == []


async def test_what_may_be_repeated_is_made_without_a_proof_of_the_lease() -> None:
    ledger = MemoryLedger()
    run = await ledger.open_run("t", [drafted("run_started", {"goal": "g", "constraints": []})])
    async with ledger.owned(run) as outdated:
        pass
    async with ledger.owned(run):
        gate = await Desk(ledger, outdated, Toolbox([LoggedTools().tool("read", effect="read")])).gate()
        call = await admit(gate, STEP, "read", {"to": "x"})
        assert (await gate.perform(call)).value == {"to": "x"}
    await ledger.close()


class Told(BaseCallbackHandler):
    """Notes what tracers are told about a call."""

    def __init__(self) -> None:
        self.about: list[Any] = []

    def on_tool_start(self, *_: Any, metadata: Any = None, **__: Any) -> None:
        self.about.append(metadata)


async def test_tracers_are_told_whose_call_it_is() -> None:
    handler = Told()

    async with at_desk(LoggedTools().tool("send")) as desk:
        await desk.revise(3)
        gate = await desk.gate()
        call = await admit(gate, STEP, "send", {})
        with set_config_context({"callbacks": [handler]}) as context:
            await asyncio.create_task(gate.perform(call), context=context)
    assert handler.about == [{"run": "t.1", "revision": 3, "step": "a", "call": 1, "item": None}]


async def test_a_failure_that_became_data_keeps_nothing_of_the_call() -> None:
    kept: list[Any] = []

    class Large:
        """What a tool has in hand when it fails."""

    async def work(**_: Any) -> None:
        large = Large()
        kept.append(weakref.ref(large))
        raise ValueError("down")

    tool = LoggedTools().tool("send", is_async=True)
    tool.coroutine = work
    gc.collect()
    gc.disable()
    try:
        assert (await perform(tool)).result.status == "failed"
        assert [one() for one in kept] == [None]
    finally:
        gc.enable()


async def test_outcomes_alone_are_written_whatever_was_decided() -> None:
    async with at_desk(LoggedTools().tool("send")) as desk:
        gate = await desk.gate()
        call = await admit(gate, STEP, "send", {})
        await gate.commit([], [call])
        await desk.revise(2)
        await gate.commit([await gate.perform(call)], [])
        assert await desk.kinds() == ["call_started", "plan_revised", "call_finished"]


@pytest.mark.parametrize("value", [None, False, {"n": [1.5]}, "x" * 20_000, 2**70])
async def test_an_outcome_on_record_stands_for_the_call_with_its_whole_value(value: Any) -> None:
    async with at_desk(LoggedTools().tool("send", lambda: value)) as desk:
        gate = await desk.gate()
        call = await admit(gate, STEP, "send", {})
        await gate.commit([], [call])
        await gate.commit([await gate.perform(call)], [])
        recalled = await (await desk.gate()).admit(STEP, "send", {}, {})
        assert isinstance(recalled, Finished)
        assert recalled.value == value


@pytest.mark.parametrize("args", [{"to": "x"}, {"to": "x" * 10_000}])
async def test_a_call_is_known_again_by_its_arguments_however_large(args: dict[str, str]) -> None:
    async with at_desk(LoggedTools().tool("send")) as desk:
        gate = await desk.gate()
        call = await admit(gate, STEP, "send", args)
        await gate.commit([], [call])
        given, known = (
            call.call.args_digest,
            [known.args_digest for known in (await desk.record()).calls.by_key.values()],
        )

    assert known == [given]


async def test_a_call_that_may_have_happened_is_in_doubt_for_the_next_attempt() -> None:
    async with at_desk(LoggedTools().tool("send")) as desk:
        gate = await desk.gate()
        call = await admit(gate, STEP, "send", {})
        await gate.commit([], [call])
        with pytest.raises(CallUncertain) as doubt:
            await (await desk.gate()).admit(STEP, "send", {}, {})
        assert doubt.value.keys == (call.call.key,)


@pytest.mark.parametrize("effect", ["read", "external"])
async def test_a_models_call_that_failed_is_told_again_and_not_made_again_when_the_step_is_taken_up(
    effect: str,
) -> None:
    async with at_desk(raising(ValueError("half done"), effect=effect)) as desk:
        gate = await desk.gate()
        call = await admit(gate, STEP, "send", {})
        await gate.commit([], [call])
        await gate.commit([await gate.perform(call)], [])
        recalled = await (await desk.gate()).admit(STEP, "send", {}, {})
        assert isinstance(recalled, Finished)
        assert recalled.result.error == "ValueError: half done"


@pytest.mark.parametrize("tool", [raising(NothingHappened("no")), raising(ValueError(), effect="read")])
async def test_a_failure_without_effect_leaves_no_doubt(tool: Any) -> None:
    async with at_desk(tool) as desk:
        gate = await desk.gate()
        call = await admit(gate, STEP, "send", {})
        await gate.commit([], [call])
        await gate.commit([await gate.perform(call)], [])
        await admit(gate, STEP, "send", {})


async def test_no_step_repeats_a_call_that_raised_a_moment_ago() -> None:
    async with at_desk(raising(ValueError("half done"))) as desk:
        gate = await desk.gate()
        first = await admit(gate, STEP, "send", {"to": "x"})
        await gate.commit([], [first])
        await gate.commit([await gate.perform(first)], [])
        with pytest.raises(CallUncertain):
            await gate.admit(STEP, "send", {"to": "x"}, {})
        with pytest.raises(CallUncertain):
            await gate.admit(Step(id="b", objective="o", tools=("send",)), "send", {"to": "x"}, {})
        await admit(gate, STEP, "send", {"to": "y"})


async def test_what_a_model_read_from_a_tool_that_declares_nothing_may_go_into_another_that_declares_nothing() -> None:
    async with at_desk(LoggedTools().tool("send")) as desk:
        gate = await desk.gate()
        read = TrustLabel("undeclared", ("page",))
        assert isinstance(await gate.admit(STEP, "send", {"to": "x"}, {}, read), Admitted)


async def test_what_a_model_read_from_a_tool_that_declares_nothing_is_held_before_an_effect() -> None:
    async with at_desk(LoggedTools().tool("send", effect="external")) as desk:
        gate = await desk.gate()
        with pytest.raises(CallHeld):
            await gate.admit(STEP, "send", {"to": "x"}, {}, TrustLabel("undeclared", ("page",)))


async def test_each_item_of_a_list_has_a_call_of_its_own() -> None:
    async with at_desk(LoggedTools().tool("read", effect="read")) as desk:
        gate = await desk.gate()
        step = Step(id="a", objective="o", tool="read", for_each=[1, 1])
        calls = [await gate.admit(step, "read", {}, {}, item=item) for item in range(2)]
        first, second = [call.call.key for call in calls if isinstance(call, Admitted)]

    assert first != second


async def test_the_failed_call_of_an_item_is_made_again_under_another_revision() -> None:
    step = Step(id="a", objective="o", tool="send", for_each=[1])

    async with at_desk(raising(ValueError("broken"), effect="read")) as desk:
        gate = await desk.gate()
        call = await gate.admit(step, "send", {}, {}, item=0)
        assert isinstance(call, Admitted)
        await gate.commit([], [call])
        await gate.commit([await gate.perform(call)], [])
        same = await (await desk.gate()).admit(step, "send", {}, {}, item=0)
        await desk.revise(1)
        same, revised = (same, await (await desk.gate()).admit(step, "send", {}, {}, item=0))

    assert isinstance(same, Finished)
    assert isinstance(revised, Admitted)
