"""A tool step: its call at once or in turn, recalled or made again, checked before the same call goes on."""

from typing import Any

import pytest
from desk import Desk, at_desk

from planner_executor.graph.calls.tool_call import Admitted
from planner_executor.graph.errors import StaleRunError
from planner_executor.graph.execution.kinds.tool import item, start
from planner_executor.graph.execution.model_step import StepFailed
from planner_executor.graph.execution.step_outcome import StepOutcome
from planner_executor.graph.plan.schema import Step
from planner_executor.graph.record.budget import Budget
from planner_executor.graph.testing import LoggedTools, ScriptedModel, step

MET, UNMET = {"met": True, "why": "it is"}, {"met": False, "why": "it is not"}
NO_JUDGE = Budget(model_calls=0)
JUDGED = {**step("a", "send", to="x"), "success_criteria": "it is good"}
EACH = {"id": "a", "objective": "o", "tool": "half", "args": {"n": "{item_result}"}, "for_each": [4, 3]}


def half(n: int) -> int:
    if n % 2:
        raise ValueError(f"{n} is odd")
    return n // 2


async def passed_over(prepared: Any, desk: Desk, *steps: dict[str, Any], **settings: Any) -> Any:
    return await (await prepared(desk, *steps, **settings)).run()


async def opened(prepared: Any, desk: Desk, *steps: dict[str, Any], **settings: Any) -> list[type]:
    """Return what each step comes to when it is started."""
    work = (await prepared(desk, *steps, **settings)).flow.work
    return [type(await start(work, Step.model_validate(one))) for one in steps]


async def test_a_step_is_its_call_unless_it_has_to_wait_for_its_rate_or_for_the_same_call(prepared: Any) -> None:
    steps = [step(name, "send", to="x") for name in "ab"]
    reads = [step(name, "read", n=n) for n, name in enumerate("cd")]

    tools = LoggedTools()
    async with at_desk(tools.tool("send"), tools.tool("read", effect="read")) as desk:
        (first, same), (at_once, later) = [
            await opened(prepared, desk, *steps),
            await opened(prepared, desk, *reads, rates={"read": 1}),
        ]

    assert (first, at_once) == (Admitted, Admitted)
    assert Admitted not in (same, later)


async def test_the_same_call_of_another_step_comes_after_the_first_has_ended(prepared: Any) -> None:
    async with at_desk(LoggedTools().tool("send")) as desk:
        passed = await passed_over(prepared, desk, step("a", "send", to="x"), step("b", "send", to="x"))
        statuses, kinds = (passed.statuses, await desk.kinds())

    assert statuses == {"a": "succeeded", "b": "succeeded"}
    assert sorted(kinds) == ["call_finished", "call_finished", "call_started", "call_started"]


async def test_each_item_has_an_intent_and_an_outcome_of_its_own(prepared: Any) -> None:
    async with at_desk(LoggedTools().tool("half", half, effect="read")) as desk:
        await passed_over(prepared, desk, EACH, slots=1)
        kinds = await desk.kinds()

    assert kinds == ["call_started", "call_finished"] * 2 + ["step_finished"]


async def test_an_item_is_one_call_of_its_tool_and_fails_with_it(prepared: Any) -> None:
    async with at_desk(LoggedTools().tool("half", half, effect="read")) as desk:
        each, found = Step.model_validate(EACH), (await prepared(desk, EACH)).flow.work
        with pytest.raises(StepFailed, match="3 is odd"):
            await item(found, each, 1, 3)
        outcome = await item(found, each, 0, 4)

    assert (outcome.value, outcome.called) == (2, {"half": 1})


async def test_a_recalled_success_writes_nothing(prepared: Any) -> None:
    async with at_desk(LoggedTools().tool("send")) as desk:
        await passed_over(prepared, desk, step("a", "send", to="x"))
        await passed_over(prepared, desk, step("a", "send", to="x"))
        assert (await opened(prepared, desk, step("a", "send", to="x")), await desk.kinds()) == (
            [StepOutcome],
            ["call_started", "call_finished"],
        )


PREVIEWED: Any = {"effect": "write", "trusted": True, "preview": lambda **_: "+ x"}


async def test_a_preview_is_made_aside_and_none_of_a_call_that_succeeded(prepared: Any) -> None:
    async with at_desk(LoggedTools().tool("send", **PREVIEWED)) as desk:
        before = await opened(prepared, desk, step("a", "send", to="x"))
        await passed_over(prepared, desk, step("a", "send", to="x"))
        after = await opened(prepared, desk, step("a", "send", to="x"))

    assert Admitted not in before and StepOutcome not in before
    assert after == [StepOutcome]


@pytest.mark.parametrize("declared", [{}, PREVIEWED], ids=["without a preview", "with a preview"])
async def test_a_result_that_was_not_checked_is_checked_and_not_written_again(prepared: Any, declared: Any) -> None:
    async with at_desk(LoggedTools().tool("send", **declared)) as desk:
        await passed_over(prepared, desk, JUDGED, judge=ScriptedModel([]), budget=NO_JUDGE)
        before = await desk.kinds()
        await passed_over(prepared, desk, JUDGED, judge=ScriptedModel([MET]))
        assert (await desk.kinds())[len(before) :] == ["model_started", "model_finished", "step_checked"]


@pytest.mark.parametrize("declared", [{}, PREVIEWED], ids=["without a preview", "with a preview"])
async def test_a_result_that_nobody_asks_to_check_any_more_is_the_steps(prepared: Any, declared: Any) -> None:
    async with at_desk(LoggedTools().tool("send", **declared)) as desk:
        await passed_over(prepared, desk, JUDGED, judge=ScriptedModel([]), budget=NO_JUDGE)
        await passed_over(prepared, desk, step("a", "send", to="x"))
        assert (await desk.record()).steps.succeeded == {"a"}


@pytest.mark.parametrize("checks", [[], [{"matches": "^$"}]], ids=["no criteria", "other criteria"])
async def test_a_result_that_other_criteria_rejected_counts_under_a_revision_that_accepts_it(
    prepared: Any, checks: list[Any]
) -> None:
    tools = LoggedTools()
    rejects = {**step("a", "send", to="x"), "checks": [{"non_empty": True}]}

    async with at_desk(tools.tool("send", lambda **_: "")) as desk:
        await passed_over(prepared, desk, rejects)
        await desk.revise(1)
        await passed_over(prepared, desk, {**rejects, "checks": checks})
        assert (await desk.record()).steps.succeeded == {"a"}
    assert len(tools.calls) == 1


@pytest.mark.parametrize(("opinion", "made", "status"), [(MET, 2, "succeeded"), (UNMET, 1, "uncertain")])
async def test_the_same_call_waits_until_a_recalled_result_has_been_checked(
    prepared: Any, opinion: dict[str, Any], made: int, status: str
) -> None:
    tools = LoggedTools()

    async with at_desk(tools.tool("send")) as desk:
        await passed_over(prepared, desk, JUDGED, judge=ScriptedModel([]), budget=NO_JUDGE)
        assert (
            await passed_over(prepared, desk, JUDGED, step("b", "send", to="x"), judge=ScriptedModel([opinion]))
        ).statuses["b"] == status
    assert len(tools.calls) == made


async def test_no_turn_is_kept_for_a_check_that_does_not_begin_because_the_run_has_changed(prepared: Any) -> None:
    async with at_desk(LoggedTools().tool("send")) as desk:
        await passed_over(prepared, desk, JUDGED, judge=ScriptedModel([]), budget=NO_JUDGE)
        passed = await prepared(desk, JUDGED, step("b", "send", to="y"), judge=ScriptedModel([]))
        await desk.revise(1)
        with pytest.raises(StaleRunError):
            await passed.run()
        gate = passed.flow.work.gate
        recalled = await gate.admit(Step.model_validate({**JUDGED, "id": "c"}), "send", {"to": "x"}, {})
        assert not recalled.queued


async def test_each_try_of_a_step_has_an_intent(prepared: Any) -> None:
    said = iter(["", "found"])
    look = {**step("a", "look"), "checks": [{"non_empty": True}]}

    async with at_desk(LoggedTools().tool("look", lambda **_: next(said), effect="read")) as desk:
        await passed_over(prepared, desk, look, max_check_attempts=2)
        kinds = await desk.kinds()

    assert kinds == ["call_started", "call_finished", "step_checked"] * 2
