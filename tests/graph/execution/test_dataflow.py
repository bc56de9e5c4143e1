"""The plan as a dataflow: what starts when, how much at once, and when nothing more starts."""

import asyncio
import warnings
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from desk import at_desk
from langchain_core.tools import StructuredTool

from planner_executor.graph.calls.tool_call import Admitted
from planner_executor.graph.calls.toolbox import Toolbox
from planner_executor.graph.errors import CapReachedError, StaleRunError
from planner_executor.graph.execution.step_outcome import not_now, pending
from planner_executor.graph.large_work import LARGE
from planner_executor.graph.plan.schema import Step
from planner_executor.graph.record.budget import Budget
from planner_executor.graph.testing import LoggedTools, ScriptedModel, drafted, step


class Crowd:
    """A tool that counts how many of its calls are under way at once."""

    def __init__(self) -> None:
        self.now = self.most = 0

    async def work(self, **_: Any) -> str:
        self.now += 1
        self.most = max(self.most, self.now)
        for _turn in range(5):
            await asyncio.sleep(0)
        self.now -= 1
        return "done"

    @property
    def tool(self) -> Any:
        schema = {"type": "object", "properties": {}, "additionalProperties": True}
        metadata = {"effect": "read"}
        return StructuredTool(
            name="look", description="looks", args_schema=schema, coroutine=self.work, metadata=metadata
        )


def gathered(name: str, value: Any, *after: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "objective": f"gather {name}", "gather": value, "depends_on": list(after), **more}


def look(**more: Any) -> Any:
    return LoggedTools().tool("look", lambda **args: args, effect="read", **more)


def failing(**metadata: Any) -> Any:
    def work(**_: Any) -> None:
        raise ValueError("broken")

    return LoggedTools().tool("break", work, **metadata)


async def test_steps_that_are_ready_start_in_plan_order(prepared: Any) -> None:
    async with at_desk(look()) as desk:
        steps = [step(name, "look", n=number) for number, name in enumerate(["z", "b", "a"])]
        assert (await (await prepared(desk, *steps)).run()).started == ["z", "b", "a"]


async def test_other_tasks_go_on_while_many_steps_end_at_once(prepared: Any) -> None:
    async with at_desk() as desk:
        flow = await prepared(desk, *(gathered(f"s{n}", n) for n in range(2 * LARGE)))
        async with asyncio.TaskGroup() as tasks:
            starting = tasks.create_task(flow.flow._start_ready(tasks, []))
            turns = 0
            while not starting.done():
                turns += 1
                await asyncio.sleep(0)
        assert turns == 3


@pytest.mark.parametrize("after", [(), ("broken",)], ids=["that end", "that are blocked"])
async def test_other_tasks_go_on_while_many_steps_are_told_of(prepared: Any, after: tuple[str, ...]) -> None:
    async with at_desk(failing(effect="read")) as desk:
        many = [gathered(f"s{n}", n, *after) for n in range(2 * LARGE)]
        flow = (await prepared(desk, step("broken", "break"), *many)).flow
        told, run = [0], asyncio.create_task(flow.run())
        while not run.done():
            await asyncio.sleep(0)
            told.append(len(flow.work.reports.steps))

    assert max(later - sooner for sooner, later in pairwise(told)) <= LARGE + 1


async def test_a_step_starts_after_all_that_it_waits_for(prepared: Any) -> None:
    async with at_desk(look()) as desk:
        passed = await (await prepared(desk, step("c", "look", after=["a"]), step("a", "look", n=1))).run()
        told = passed.told

    assert told.index(("a", "succeeded")) < told.index(("c", "running"))


async def test_an_event_loop_that_ends_between_an_intent_and_its_call_leaves_nothing_that_python_warns_of(
    prepared: Any,
) -> None:
    others, loop = asyncio.all_tasks(), asyncio.get_running_loop()

    def end() -> None:
        for task in asyncio.all_tasks() - others:
            task.cancel()

    async with at_desk(look()) as desk:
        flow = (await prepared(desk, step("a", "look"))).flow
        flow.work.reports.step = lambda *_: loop.call_soon(end)
        run = asyncio.create_task(flow.run())
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            await asyncio.wait([run])

    assert run.cancelled() and warned == []


@pytest.mark.parametrize("slots", [1, 2])
async def test_no_more_steps_are_under_way_than_there_are_slots(prepared: Any, slots: int) -> None:
    crowd = Crowd()

    async with at_desk(crowd.tool) as desk:
        flow = await prepared(desk, *(step(f"s{n}", "look", n=n) for n in range(5)), slots=slots)
        statuses = (await flow.run()).statuses

    assert statuses == {f"s{n}": "succeeded" for n in range(5)}
    assert crowd.most == slots


async def test_a_slot_is_returned_when_a_step_ends_without_a_call(prepared: Any) -> None:
    async with at_desk(look()) as desk:
        flow = await prepared(desk, gathered("a", 1), gathered("b", 2), step("c", "look"), slots=1)
        statuses, free = (await flow.run()).statuses, await flow.free_slots()

    assert statuses == dict.fromkeys("abc", "succeeded")
    assert free == 1


async def test_slots_are_returned_when_the_run_has_changed(prepared: Any) -> None:
    async with at_desk(look()) as desk:
        flow = await prepared(desk, step("a", "look", n=1), step("b", "look", n=2), slots=2)
        await desk.revise(1)
        with pytest.raises(StaleRunError):
            await flow.run()
        assert (await flow.free_slots(), flow.started) == (2, [])


async def test_nothing_starts_after_a_limit_of_the_budget_was_reached(prepared: Any) -> None:
    async with at_desk(look()) as desk:
        steps = [step("a", "look", n=1), step("b", "look", n=2), gathered("c", 3)]
        passed = await (await prepared(desk, *steps, slots=1, budget=Budget(tool_calls=1))).run()

    assert passed.flow.limit == "tool_calls"
    assert passed.statuses == {"a": "succeeded", "b": "pending"}


async def test_a_pass_that_stops_early_starts_nothing_after_the_first_end(prepared: Any) -> None:
    async with at_desk(look()) as desk:
        passed = await (await prepared(desk, step("a", "look"), gathered("b", 1, "a"), stops_early=True)).run()

    assert (passed.statuses, passed.flow.progressed) == ({"a": "succeeded"}, True)


async def test_a_failure_blocks_what_waits_for_it_and_nothing_else(prepared: Any) -> None:
    async with at_desk(failing(effect="read")) as desk:
        steps = [step("a", "break"), gathered("b", "{a_result}", "a"), gathered("c", 3), gathered("d", 4, "b")]
        passed = await (await prepared(desk, *steps)).run()

    assert passed.statuses == {"a": "failed", "b": "blocked", "c": "succeeded", "d": "blocked"}
    assert passed.results["d"].error == "waits for a, which failed"


async def test_what_needs_a_skipped_step_is_skipped_with_it(prepared: Any) -> None:
    async with at_desk() as desk:
        await desk.ledger.append(desk.lease, [drafted("step_skipped", {}, "a")])
        passed = await (await prepared(desk, gathered("a", 1), gathered("b", 2, "a"), gathered("c", 3))).run()

    assert passed.statuses == {"a": "skipped", "b": "skipped", "c": "succeeded"}
    assert [step for step, status in passed.told if status == "skipped"] == ["a", "b"]


async def test_who_has_to_do_something_is_told_of_it(prepared: Any) -> None:
    async with at_desk() as desk:
        question = {"id": "a", "objective": "o", "ask": "Which?"}
        assert (await (await prepared(desk, question, gathered("b", 1))).run()).reported.people == ["a"]


async def test_the_calls_that_a_person_has_to_settle_are_named_once(prepared: Any) -> None:
    async with at_desk(failing()) as desk:
        await (await prepared(desk, step("a", "break"))).run()
        passed = await (await prepared(desk, step("b", "break"), step("c", "break"))).run()

    assert passed.statuses == {"b": "uncertain", "c": "uncertain"}
    assert len(passed.flow.uncertain_calls) == 1


async def test_a_pass_waits_for_a_slot_that_is_held_elsewhere_and_returns_it(prepared: Any) -> None:
    async with at_desk(look()) as desk:
        passed = await prepared(desk, step("a", "look", n=1), step("b", "look", n=2), slots=1)
        await passed.flow.work.slots.acquire()
        running = asyncio.create_task(passed.run())
        for _turn in range(20):
            await asyncio.sleep(0)
        assert passed.started == []
        passed.flow.work.slots.release()
        await running
        assert (passed.statuses, await passed.free_slots()) == ({"a": "succeeded", "b": "succeeded"}, 1)


async def test_what_ends_is_on_record_whether_or_not_anything_starts_after_it(prepared: Any) -> None:
    async with at_desk(look()) as desk:
        await (await prepared(desk, gathered("a", 1), step("b", "look", after=["a"]))).run()
        assert await desk.kinds() == ["step_finished", "call_started", "call_finished"]


async def test_what_has_ended_is_written_before_what_rests_on_it(prepared: Any) -> None:
    async with at_desk() as desk, asyncio.TaskGroup() as tasks:
        flow = (await prepared(desk, gathered("a", 1))).flow
        await flow._start_ready(tasks, [])
        await flow._write_ended()
        assert await desk.kinds() == ["step_finished"]


async def test_a_model_step_and_a_list_of_one_slot_run_to_their_end(prepared: Any) -> None:
    async with at_desk(look()) as desk:
        each = {**step("b", "look", n="{item_result}"), "for_each": [1, 2]}
        model = ScriptedModel(["thought"])
        assert (await (await prepared(desk, step("a"), each, model=model, slots=1)).run()).statuses == {
            "a": "succeeded",
            "b": "succeeded",
        }


async def test_a_step_that_has_no_result_yet_undoes_no_progress(prepared: Any) -> None:
    async with at_desk() as desk:
        question = {"id": "b", "objective": "o", "ask": "Which?", "depends_on": ["a"]}
        assert (await (await prepared(desk, gathered("a", 1), question)).run()).flow.progressed is True


async def test_a_limit_stays_reached_when_a_running_step_ends_after_it(prepared: Any) -> None:
    async with at_desk(look()) as desk:
        steps = [step("a", "look", n=1), step("b", "look", n=2), gathered("c", 3, "a")]
        passed = await (await prepared(desk, *steps, budget=Budget(tool_calls=1))).run()

    assert (passed.flow.limit, passed.statuses) == ("tool_calls", {"a": "succeeded", "b": "pending"})


async def test_nothing_starts_after_the_run_was_found_changed(prepared: Any) -> None:
    told: list[tuple[str, str]] = []

    async with at_desk() as desk:

        async def look(n: int) -> int:
            if n == 1:
                await desk.revise(1)
            while n == 2 and ("a", "succeeded") not in told:
                await asyncio.sleep(0)
            return n

        metadata = {"effect": "read"}
        desk.toolbox = Toolbox([StructuredTool.from_function(coroutine=look, description="looks", metadata=metadata)])
        steps = [step("a", "look", n=1), step("b", "look", n=2), step("c", "look", n=3, after=["a"])]
        passed = await prepared(desk, *steps, gathered("d", 4, "b"))
        passed.reported.steps = told
        with pytest.raises(StaleRunError):
            await passed.run()
        started, kinds = (passed.started, await desk.kinds())

    assert started == ["a", "b"]
    assert kinds == ["call_started", "call_started", "plan_revised", "call_finished", "call_finished"]


async def test_a_running_step_does_not_wait_for_the_turn_of_one_that_will_not_begin(prepared: Any) -> None:
    checked = {**step("a", "send", to="x", after=["z"]), "checks": [{"non_empty": True}]}
    each = {**step("e", "send", to="{item_result}"), "for_each": ["w", "x"]}

    async with at_desk() as desk:

        async def look(n: int) -> int:
            if n == 1:
                await desk.revise(1)
            return n

        read = StructuredTool.from_function(coroutine=look, description="looks", metadata={"effect": "read"})
        desk.toolbox = Toolbox([read, LoggedTools().tool("send")])
        gate = await desk.gate()
        call = await gate.admit(Step.model_validate(checked), "send", {"to": "x"}, {})
        assert isinstance(call, Admitted)
        await gate.commit([], [call])
        await gate.commit([replace(await gate.perform(call), unchecked=True)], [])
        steps = [each, step("z", "look", n=1), checked, step("b", "look", n=2, after=["z"])]
        passed = await prepared(desk, *steps, rates={"send": 6_000})  # so that the second item waits for its rate
        with pytest.raises(StaleRunError):
            await passed.run()
        assert passed.started == ["z", "e"]


async def test_a_step_whose_result_a_person_gave_waits_for_nothing(prepared: Any) -> None:
    async with at_desk(look(), failing(effect="read")) as desk:
        await desk.ledger.append(desk.lease, [drafted("result_supplied", {"value": "given"}, "b")])
        steps = [step("a", "break"), step("b", "look", after=["a"]), step("c", "look", after=["b"])]
        statuses: dict[str, str] = (await (await prepared(desk, *steps)).run()).statuses
        assert statuses == {"a": "failed", "b": "succeeded", "c": "blocked"}


@pytest.mark.parametrize(
    ("waits_s", "soonest"), [([], None), ([60.0], 0), ([60.0, 5.0], 1), ([5.0, 60.0], 0), ([5.0, 5.0], 0)]
)
async def test_of_several_caps_the_one_that_allows_a_call_soonest_is_kept(
    prepared: Any, waits_s: list[float], soonest: int | None
) -> None:
    caps = [CapReachedError("runs.db", "calls.look", "at most 1 call of look a day", wait_s) for wait_s in waits_s]

    async with at_desk(look()) as desk:
        flow = (await prepared(desk, step("a", "look"), step("b", "look"))).flow
        for outcome in [*(not_now("a", cap) for cap in caps), pending("b", "later", needs_person=False)]:
            flow._settle(outcome)
        assert flow.cap is (None if soonest is None else caps[soonest])
