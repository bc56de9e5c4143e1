"""What a step that is ready comes to: reused, recalled, looked at again, or made anew."""

from typing import Any

import pytest
from desk import at_desk

from planner_executor.graph.record.budget import Budget
from planner_executor.graph.testing import LoggedTools, ScriptedModel, drafted, step

MET, UNMET = {"met": True, "why": "it is"}, {"met": False, "why": "it is not"}


def gathered(value: Any, **more: Any) -> dict[str, Any]:
    return {"id": "a", "objective": "o", "gather": value, **more}


async def test_a_result_on_record_is_reused_for_the_same_inputs(prepared: Any) -> None:
    async with at_desk() as desk:
        await (await prepared(desk, gathered([1]))).run()
        passed = await (await prepared(desk, gathered([1]))).run()
        assert (passed.results["a"].value, await desk.kinds()) == ([1], ["step_finished"])


async def test_a_result_on_record_is_not_reused_when_its_inputs_have_changed(prepared: Any) -> None:
    async with at_desk() as desk:
        await (await prepared(desk, gathered([1]))).run()
        passed = await (await prepared(desk, gathered([2]))).run()
        assert (passed.results["a"].value, await desk.kinds()) == ([2], ["step_finished"] * 2)


async def test_a_model_is_not_asked_again_for_a_result_on_record(prepared: Any) -> None:
    model = ScriptedModel(["thought"])

    async with at_desk() as desk:
        await (await prepared(desk, step("a"), model=model)).run()
        assert (await (await prepared(desk, step("a"), model=model)).run()).results["a"].value == "thought"
    assert len(model.prompts) == 1


async def test_a_call_on_record_is_recalled_and_not_made_again(prepared: Any) -> None:
    tools = LoggedTools()

    async with at_desk(tools.tool("send")) as desk:
        for _ in range(2):
            passed = await (await prepared(desk, step("a", "send", to="x"))).run()
        assert passed.statuses == {"a": "succeeded"}
    assert len(tools.calls) == 1


async def test_a_result_that_was_not_checked_is_looked_at_when_it_is_recalled(prepared: Any) -> None:
    tools, judged = LoggedTools(), {**step("a", "look"), "success_criteria": "it is good"}

    async with at_desk(tools.tool("look", effect="read")) as desk:
        no_judge_in_budget = Budget(model_calls=0)
        first = await (await prepared(desk, judged, judge=ScriptedModel([]), budget=no_judge_in_budget)).run()
        second = await (await prepared(desk, judged, judge=ScriptedModel([UNMET]))).run()
        limit, result = (first.flow.limit, second.results["a"])

    assert limit == "model_calls"
    assert (result.status, len(tools.calls)) == ("failed", 1)


async def test_a_result_that_a_person_gave_for_a_call_has_to_meet_the_checks(prepared: Any) -> None:
    checked = {**step("a", "send"), "checks": [{"non_empty": True}]}

    def broken(**_: Any) -> None:
        raise ValueError("broken")

    tools = LoggedTools()
    async with at_desk(tools.tool("send", broken)) as desk:
        await (await prepared(desk, checked)).run()
        (key,) = (await desk.record()).calls.by_key
        decided = {"decision": "settle", "by": "person", "digest": "", "checkpoint": "", "request": 1}
        settled = [{"key": key, "happened": True, "result": ""}]
        await desk.ledger.append(desk.lease, [drafted("decided", {**decided, "settled": settled})])
        result = (await (await prepared(desk, checked)).run()).results["a"]

    assert (result.status, len(tools.calls)) == ("failed", 1)


async def test_a_result_that_was_checked_is_not_judged_again(prepared: Any) -> None:
    judge, judged = ScriptedModel([MET]), {**step("a", "look"), "success_criteria": "it is good"}

    async with at_desk(LoggedTools().tool("look", effect="read")) as desk:
        for _ in range(2):
            passed = await (await prepared(desk, judged, judge=judge)).run()
        assert passed.statuses == {"a": "succeeded"}
    assert len(judge.prompts) == 1


async def test_a_step_that_failed_under_this_revision_is_not_begun_again(prepared: Any) -> None:
    tools = LoggedTools()

    def broken(**_: Any) -> None:
        raise ValueError("broken")

    async with at_desk(tools.tool("look", broken, effect="read")) as desk:
        passes = [(await (await prepared(desk, step("a", "look"))).run()).statuses for _ in range(2)]

    assert passes == [{"a": "failed"}] * 2
    assert len(tools.calls) == 1


async def test_a_reference_without_a_value_fails_the_step(prepared: Any) -> None:
    async with at_desk() as desk:
        steps = [gathered({"x": 1}), {"id": "b", "objective": "o", "gather": "{a_result.y}"}]
        result = (await (await prepared(desk, *steps)).run()).results["b"]

    assert result.status == "failed"
    assert "a_result.y" in str(result.error)


async def test_a_skipped_step_is_not_begun_and_neither_is_one_that_needs_it(prepared: Any) -> None:
    tools = LoggedTools()

    async with at_desk(tools.tool("look", effect="read")) as desk:
        await desk.ledger.append(desk.lease, [drafted("step_skipped", {}, "a")])
        steps = [step("a", "look"), step("b", "look", after=["a"]), step("c", "look", n=1)]
        statuses: dict[str, str] = (await (await prepared(desk, *steps)).run()).statuses
        assert statuses == {"a": "skipped", "b": "skipped", "c": "succeeded"}
    assert len(tools.calls) == 1


@pytest.mark.parametrize(("value", "status"), [("given", "succeeded"), ("", "failed")])
async def test_a_supplied_result_is_checked_and_its_work_is_not_done(prepared: Any, value: str, status: str) -> None:
    tools = LoggedTools()

    async with at_desk(tools.tool("send", effect="read")) as desk:
        await desk.ledger.append(desk.lease, [drafted("result_supplied", {"value": value}, "a")])
        steps = [{**step("a", "send"), "checks": [{"non_empty": True}]}]
        statuses = [(await (await prepared(desk, *steps, max_check_attempts=2)).run()).statuses["a"] for _ in range(2)]
        assert statuses == [status] * 2
        assert (statuses[0], await desk.kinds()) == (status, ["result_supplied", "step_checked"])
    assert tools.calls == []
