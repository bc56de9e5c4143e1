"""What a step that is ready comes to: reused, recalled, looked at again, or made anew."""

from typing import Any

import pytest
from desk import Desk, at_desk

from planner_executor.graph.record.budget import Budget
from planner_executor.graph.testing import LoggedTools, ScriptedModel, drafted, step

MET, UNMET = {"met": True, "why": "it is"}, {"met": False, "why": "it is not"}


def gathered(value: Any, **more: Any) -> dict[str, Any]:
    return {"id": "a", "objective": "o", "gather": value, **more}


def test_a_result_on_record_is_reused_for_the_same_inputs(prepared: Any) -> None:
    async def work(desk: Desk) -> tuple[Any, list[str]]:
        await (await prepared(desk, gathered([1]))).run()
        passed = await (await prepared(desk, gathered([1]))).run()
        return passed.results["a"].value, await desk.kinds()

    assert at_desk(work) == ([1], ["step_finished"])


def test_a_result_on_record_is_not_reused_when_its_inputs_have_changed(prepared: Any) -> None:
    async def work(desk: Desk) -> tuple[Any, list[str]]:
        await (await prepared(desk, gathered([1]))).run()
        passed = await (await prepared(desk, gathered([2]))).run()
        return passed.results["a"].value, await desk.kinds()

    assert at_desk(work) == ([2], ["step_finished"] * 2)


def test_a_model_is_not_asked_again_for_a_result_on_record(prepared: Any) -> None:
    model = ScriptedModel(["thought"])

    async def work(desk: Desk) -> Any:
        await (await prepared(desk, step("a"), model=model)).run()
        return (await (await prepared(desk, step("a"), model=model)).run()).results["a"].value

    assert at_desk(work) == "thought"
    assert len(model.prompts) == 1


def test_a_call_on_record_is_recalled_and_not_made_again(prepared: Any) -> None:
    tools = LoggedTools()

    async def work(desk: Desk) -> dict[str, str]:
        for _ in range(2):
            passed = await (await prepared(desk, step("a", "send", to="x"))).run()
        return passed.statuses

    assert at_desk(work, tools.tool("send")) == {"a": "succeeded"}
    assert len(tools.calls) == 1


def test_a_result_that_was_not_checked_is_looked_at_when_it_is_recalled(prepared: Any) -> None:
    tools, judged = LoggedTools(), {**step("a", "look"), "success_criteria": "it is good"}

    async def work(desk: Desk) -> tuple[str, Any]:
        no_judge_in_budget = Budget(model_calls=0)
        first = await (await prepared(desk, judged, judge=ScriptedModel([]), budget=no_judge_in_budget)).run()
        second = await (await prepared(desk, judged, judge=ScriptedModel([UNMET]))).run()
        return first.flow.limit, second.results["a"]

    limit, result = at_desk(work, tools.tool("look", effect="read"))

    assert limit == "model_calls"
    assert (result.status, len(tools.calls)) == ("failed", 1)


def test_a_result_that_a_person_gave_for_a_call_has_to_meet_the_checks(prepared: Any) -> None:
    checked = {**step("a", "send"), "checks": [{"non_empty": True}]}

    def broken(**_: Any) -> None:
        raise ValueError("broken")

    async def work(desk: Desk) -> Any:
        await (await prepared(desk, checked)).run()
        (key,) = (await desk.record()).calls.by_key
        decided = {"decision": "settle", "by": "person", "digest": "", "checkpoint": "", "request": 1}
        settled = [{"key": key, "happened": True, "result": ""}]
        await desk.ledger.append(desk.lease, [drafted("decided", {**decided, "settled": settled})])
        return (await (await prepared(desk, checked)).run()).results["a"]

    tools = LoggedTools()
    result = at_desk(work, tools.tool("send", broken))

    assert (result.status, len(tools.calls)) == ("failed", 1)


def test_a_result_that_was_checked_is_not_judged_again(prepared: Any) -> None:
    judge, judged = ScriptedModel([MET]), {**step("a", "look"), "success_criteria": "it is good"}

    async def work(desk: Desk) -> dict[str, str]:
        for _ in range(2):
            passed = await (await prepared(desk, judged, judge=judge)).run()
        return passed.statuses

    assert at_desk(work, LoggedTools().tool("look", effect="read")) == {"a": "succeeded"}
    assert len(judge.prompts) == 1


def test_a_step_that_failed_under_this_revision_is_not_begun_again(prepared: Any) -> None:
    tools = LoggedTools()

    async def work(desk: Desk) -> list[dict[str, str]]:
        return [(await (await prepared(desk, step("a", "look"))).run()).statuses for _ in range(2)]

    def broken(**_: Any) -> None:
        raise ValueError("broken")

    assert at_desk(work, tools.tool("look", broken, effect="read")) == [{"a": "failed"}] * 2
    assert len(tools.calls) == 1


def test_a_reference_without_a_value_fails_the_step(prepared: Any) -> None:
    async def work(desk: Desk) -> Any:
        steps = [gathered({"x": 1}), {"id": "b", "objective": "o", "gather": "{a_result.y}"}]
        return (await (await prepared(desk, *steps)).run()).results["b"]

    result = at_desk(work)

    assert result.status == "failed"
    assert "a_result.y" in str(result.error)


def test_a_skipped_step_is_not_begun_and_neither_is_one_that_needs_it(prepared: Any) -> None:
    tools = LoggedTools()

    async def work(desk: Desk) -> dict[str, str]:
        await desk.ledger.append(desk.lease, [drafted("step_skipped", {}, "a")])
        steps = [step("a", "look"), step("b", "look", after=["a"]), step("c", "look", n=1)]
        statuses: dict[str, str] = (await (await prepared(desk, *steps)).run()).statuses
        return statuses

    assert at_desk(work, tools.tool("look", effect="read")) == {"a": "skipped", "b": "skipped", "c": "succeeded"}
    assert len(tools.calls) == 1


@pytest.mark.parametrize(("value", "status"), [("given", "succeeded"), ("", "failed")])
def test_a_supplied_result_is_checked_and_its_work_is_not_done(prepared: Any, value: str, status: str) -> None:
    tools = LoggedTools()

    async def work(desk: Desk) -> tuple[str, list[str]]:
        await desk.ledger.append(desk.lease, [drafted("result_supplied", {"value": value}, "a")])
        steps = [{**step("a", "send"), "checks": [{"non_empty": True}]}]
        statuses = [(await (await prepared(desk, *steps, max_check_attempts=2)).run()).statuses["a"] for _ in range(2)]
        assert statuses == [status] * 2
        return statuses[0], await desk.kinds()

    assert at_desk(work, tools.tool("send", effect="read")) == (status, ["result_supplied", "step_checked"])
    assert tools.calls == []
