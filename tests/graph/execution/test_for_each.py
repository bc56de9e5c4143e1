"""A step for each item of a list: bounded, in order, and one failure does not lose the others."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from desk import at_desk

from planner_executor.graph.chat_models.retry import Clock
from planner_executor.graph.errors import StaleRunError
from planner_executor.graph.execution.for_each import ItemOutcome, Items, items_of
from planner_executor.graph.execution.step_outcome import StepAttempt
from planner_executor.graph.plan.schema import Step
from planner_executor.graph.policy.grants import Refused
from planner_executor.graph.record.budget import Budget
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.trust_label import USER, TrustLabel
from planner_executor.graph.testing import LoggedTools, ScriptedModel


def each(items: Any, **more: Any) -> dict[str, Any]:
    return {"id": "a", "objective": "o", "tool": "half", "args": {"n": "{item_result}"}, "for_each": items, **more}


def half(n: int) -> int:
    if n % 2:
        raise ValueError(f"{n} is odd")
    return n // 2


async def result_of(prepared: Any, *steps: dict[str, Any], **settings: Any) -> Any:
    async with at_desk(LoggedTools().tool("half", half, effect="read")) as desk:
        flow = await prepared(desk, *steps, **settings)
        return (await flow.run()).results["a"], await flow.free_slots()


async def test_values_stand_in_the_order_of_the_items(prepared: Any) -> None:
    result, free = await result_of(prepared, each([8, 2, 4]), slots=2)

    assert (result.status, result.value, free) == ("succeeded", [4, 1, 2], 2)


async def test_an_item_that_fails_fails_the_step(prepared: Any) -> None:
    result, free = await result_of(prepared, each([8, 3, 4]), slots=2)

    assert (result.status, free) == ("failed", 2)
    assert result.error == "1 of 3 items failed; a[1] failed: ValueError: 3 is odd"


async def test_as_many_items_may_fail_as_the_plan_allows(prepared: Any) -> None:
    result, _ = await result_of(prepared, each([8, 3, 4], max_failures=1))

    assert (result.status, result.value) == ("succeeded", [4, {"error": "ValueError: 3 is odd"}, 2])


async def test_a_model_does_each_item(prepared: Any) -> None:
    step = {"id": "a", "objective": "o", "for_each": ["x", "y"]}

    result, _ = await result_of(prepared, step, model=ScriptedModel(["one", "two"]), slots=1)

    assert result.value == ["one", "two"]


@pytest.mark.parametrize(("items", "why"), [([1, 2, 3], "has 3 items, the plan allows 2"), ("xy", "must be a list")])
def test_a_list_that_the_plan_does_not_allow_is_refused(items: Any, why: str) -> None:
    step = Step(id="a", objective="o", tool="half", for_each="{b_result}", max_items=2)

    with pytest.raises(Refused, match=why):
        items_of(step, {"b": items})


def test_a_list_may_be_as_long_as_the_plan_allows() -> None:
    step = Step(id="a", objective="o", tool="half", for_each="{b_result}", max_items=2)

    assert items_of(step, {"b": [1, 2]}) == [1, 2]


async def test_a_list_waits_for_a_person_if_one_of_its_items_does(prepared: Any) -> None:
    result, free = await result_of(prepared, each([8, 4]), slots=1, budget=Budget(tool_calls=1))

    assert (result.status, free) == ("pending", 1)
    assert "tool_calls" in str(result.error)


async def test_a_list_is_not_done_on_when_the_run_has_changed(prepared: Any) -> None:
    tools = LoggedTools()

    async with at_desk(tools.tool("half", half, effect="read")) as desk:
        flow = await prepared(desk, each([8, 4]), slots=1)
        await desk.revise(1)
        with pytest.raises(StaleRunError):
            await flow.run()
    assert tools.calls == []


class Silent:
    """Reports nothing."""

    def step(self, *_: Any) -> None: ...
    def item(self, *_: Any) -> None: ...
    def again(self, *_: Any) -> None: ...
    def person(self, *_: Any) -> None: ...


class Waiting(ScriptedModel):
    """Never answers."""

    async def _agenerate(self, *_: Any, **__: Any) -> Any:
        await asyncio.Event().wait()


async def test_an_item_that_does_not_end_in_time_has_failed(prepared: Any) -> None:
    async def at_once(*_: Any) -> None: ...

    async with at_desk() as desk:
        step = {"id": "a", "objective": "o", "for_each": ["x"], "timeout_s": 5}
        flow = await prepared(desk, step, model=Waiting([]))
        flow.flow.work.clock = Clock(step_over=at_once)
        assert (await flow.run()).results[
            "a"
        ].error == "1 of 1 item failed; a[0] failed: the step did not end within 5 s"


class Noting(Silent):
    """Keeps what is reported of items."""

    def __init__(self) -> None:
        self.items: list[Any] = []

    def item(self, *told: Any) -> None:
        self.items.append(told)


async def test_each_item_is_reported_as_it_ends() -> None:
    async def good() -> dict[int, ItemOutcome]:
        return {0: ItemOutcome(2, USER, {})}

    async def bad() -> dict[int, ItemOutcome]:
        raise Refused("odd")

    reports = Noting()
    step = Step(id="a", objective="o", tool="half", for_each=[4, 3])
    await Items(step, asyncio.Semaphore(2), USER, reports).do([([0], good), ([1], bad)])

    assert reports.items == [
        ("a", 0, StepResult("succeeded", 2)),
        ("a", 1, StepResult("failed", error="odd")),
    ]


def test_a_list_has_the_calls_and_the_trust_of_all_its_items() -> None:
    step = Step(id="a", objective="o", tool="half", for_each=[4, 3], max_failures=1)
    page = TrustLabel("untrusted", ("page",))
    done = {0: ItemOutcome(2, USER, {"half": 1}), 1: ItemOutcome(2, USER, {"half": 2})}
    attempt = StepAttempt("a", "i", 1, 0.0)

    whole = Items(step, asyncio.Semaphore(), page, Silent(), done).end(attempt, 2)
    lacks = {0: replace(done[0], missing=("no page 2",))}
    partly = Items(step, asyncio.Semaphore(), page, Silent(), lacks, {1: "odd"}).end(attempt, 2)

    assert (whole.called, whole.label) == ({"half": 3}, USER)
    assert (partly.called, partly.label.untrusted) == ({"half": 1}, True), "the error may quote what the item read"
    (finished,) = partly.events
    assert finished.data.to_json()["missing"] == ["a[1] failed: odd", "no page 2"]


def test_of_many_items_that_failed_five_are_named() -> None:
    step, failed = Step(id="a", objective="o", tool="half", for_each=[1] * 7), dict.fromkeys(range(7), "odd")
    label = TrustLabel("untrusted", ("page",))
    ended = Items(step, asyncio.Semaphore(), label, Silent(), {}, failed).end(StepAttempt("a", "i", 1, 0.0), 7)

    assert ended.result.error == "7 of 7 items failed; " + "; ".join(f"a[{place}] failed: odd" for place in range(5))


async def test_a_list_on_record_is_not_done_again(prepared: Any) -> None:
    async with at_desk(LoggedTools().tool("half", half, effect="read")) as desk:
        for _ in range(2):
            await (await prepared(desk, each([8]))).run()
        kinds = await desk.kinds()

    assert kinds == ["call_started", "call_finished", "step_finished"]
