"""Whether a result will do: checks, then a judge, and another try if the work may be repeated."""

from typing import Any

import pytest
from desk import at_desk

from planner_executor.graph.plan.schema import Step
from planner_executor.graph.record.events import StepChecked
from planner_executor.graph.testing import LoggedTools, ScriptedModel, drafted, step

FILLED = {"checks": [{"non_empty": True}]}
REASONED = {"checks": [{"matches": "thought"}]}
MET, UNMET = {"met": True, "why": "it is"}, {"met": False, "why": "it is not"}


def broken(name: str, **metadata: Any) -> Any:
    def work(**_: Any) -> None:
        raise ValueError("broken")

    return LoggedTools().tool(name, work, **metadata)


async def outcome(prepared: Any, one: dict[str, Any], *tools: Any, **settings: Any) -> tuple[Any, list[str]]:
    async with at_desk(*tools) as desk:
        passed = await (await prepared(desk, one, **settings)).run()
        return (passed.results["a"], await desk.kinds())


async def test_a_result_that_meets_no_check_fails_its_step(prepared: Any) -> None:
    result, kinds = await outcome(
        prepared, {"id": "a", "objective": "o", "gather": "", "checks": [{"non_empty": True}]}
    )

    assert (result.status, kinds) == ("failed", ["step_finished", "step_checked"])


async def test_work_that_may_be_repeated_is_tried_again(prepared: Any) -> None:
    said = iter(["", "found"])
    tools = LoggedTools()
    look = tools.tool("look", lambda **_: next(said), effect="read")

    result, _ = await outcome(
        prepared, {**step("a", "look"), "checks": [{"non_empty": True}]}, look, max_check_attempts=2
    )

    assert (result.value, len(tools.calls)) == ("found", 2)


async def test_an_effect_is_not_repeated_for_a_check(prepared: Any) -> None:
    tools = LoggedTools()
    send = tools.tool("send", lambda **_: "")

    result, _ = await outcome(
        prepared, {**step("a", "send"), "checks": [{"non_empty": True}]}, send, max_check_attempts=4
    )

    assert (result.status, len(tools.calls)) == ("failed", 1)


@pytest.mark.parametrize(("opinion", "status"), [(MET, "succeeded"), (UNMET, "failed")])
async def test_a_judge_decides_about_success_criteria(prepared: Any, opinion: dict[str, Any], status: str) -> None:
    one, judge = {**step("a"), "success_criteria": "it is good"}, ScriptedModel([opinion])

    result, _ = await outcome(prepared, one, model=ScriptedModel(["good"]), judge=judge)

    assert result.status == status


async def test_a_judge_is_asked_once_about_the_same_result(prepared: Any) -> None:
    one, judge = {**step("a"), "success_criteria": "it is good"}, ScriptedModel([UNMET])

    result, _ = await outcome(prepared, one, model=ScriptedModel(["same", "same"]), judge=judge, max_check_attempts=2)

    assert (result.status, len(judge.prompts)) == ("failed", 1)


async def test_a_judge_that_gives_no_opinion_is_asked_once_more(prepared: Any) -> None:
    one, judge = {**step("a"), "success_criteria": "it is good"}, ScriptedModel(["well", MET])

    result, _ = await outcome(prepared, one, model=ScriptedModel(["good"]), judge=judge)

    assert (result.status, len(judge.prompts)) == ("succeeded", 2)


async def test_a_check_that_is_not_met_needs_no_judge(prepared: Any) -> None:
    judge = ScriptedModel([])
    one = {"id": "a", "objective": "o", "gather": "", "checks": [{"non_empty": True}], "success_criteria": "good"}

    result, _ = await outcome(prepared, one, judge=judge)

    assert (result.status, judge.prompts) == ("failed", [])


async def test_a_step_without_criteria_or_without_a_result_is_not_assessed(prepared: Any) -> None:
    judge = ScriptedModel([])
    look = LoggedTools().tool("look", effect="read")

    _, kinds = await outcome(prepared, step("a", "look"), look, judge=judge)
    _, unjudged = await outcome(prepared, {**step("a", "look"), "success_criteria": "good"}, look)
    result, failed = await outcome(prepared, {**step("a", "look"), **FILLED}, broken("look", effect="read"))

    assert kinds == unjudged == failed == ["call_started", "call_finished"]
    assert (judge.prompts, result.error) == ([], "ValueError: broken")


@pytest.mark.parametrize("attempts", [1, 2, 3])
async def test_a_step_is_tried_again_as_often_as_is_allowed_and_each_try_is_on_record(
    prepared: Any, attempts: int
) -> None:
    tools = LoggedTools()
    look = tools.tool("look", lambda **_: "", effect="read")

    async with at_desk(look) as desk:
        await (await prepared(desk, {**step("a", "look"), **FILLED}, max_check_attempts=attempts)).run()
        checked = [event for event in await desk.ledger.events(desk.run) if event.kind == "step_checked"]
        assert [event.data.again for event in checked if isinstance(event.data, StepChecked)] == [True] * (
            attempts - 1
        ) + [False]
    assert len(tools.calls) == attempts


async def test_a_step_that_meets_its_criteria_is_not_tried_again(prepared: Any) -> None:
    tools = LoggedTools()

    result, kinds = await outcome(
        prepared,
        {**step("a", "look", n=1), **FILLED},
        tools.tool("look", lambda n: n, effect="read"),
        max_check_attempts=2,
    )

    assert (result.value, len(tools.calls)) == (1, 1)
    assert kinds == ["call_started", "call_finished", "step_checked"]


async def test_tries_on_record_count_for_a_tool_and_not_for_a_model_which_repeats_its_conversation(
    prepared: Any,
) -> None:
    tools, model = LoggedTools(), ScriptedModel(["dunno", "thought"])
    look = tools.tool("look", lambda **_: "", effect="read")
    tried = drafted("step_checked", {"met": False, "again": True, "error": "no", "revision": 0}, "a")

    async def tried_again(one: dict[str, Any]) -> tuple[Any, int]:
        async with at_desk(look) as desk:
            await desk.ledger.append(desk.lease, [tried])
            passed = await (await prepared(desk, {**one, **REASONED}, model=model, max_check_attempts=2)).run()
            return passed.statuses["a"], (await desk.kinds()).count("step_checked")

    assert await tried_again(step("a", "look")) == ("failed", 2)
    assert len(tools.calls) == 1
    assert await tried_again(step("a")) == ("succeeded", 2)
    assert len(model.prompts) == 2


@pytest.mark.parametrize(("value", "made", "status"), [("", 1, "uncertain"), ("sent", 2, "succeeded")])
async def test_an_effect_whose_result_will_not_do_is_not_repeated_by_the_same_call(
    prepared: Any, value: str, made: int, status: str
) -> None:
    tools = LoggedTools()

    async with at_desk(tools.tool("send", lambda **_: value)) as desk:
        steps = {**step("a", "send", to="x"), **FILLED}, step("b", "send", to="x")
        statuses: dict[str, str] = (await (await prepared(desk, *steps)).run()).statuses
        assert statuses["b"] == status
    assert len(tools.calls) == made


async def test_only_a_result_that_will_do_is_a_model_steps(prepared: Any) -> None:
    one = {**step("a"), **REASONED}

    _, kinds = await outcome(prepared, one, model=ScriptedModel(["dunno", "thought"]), max_check_attempts=2)

    asked = ["model_started", "model_finished"]
    assert kinds == [*asked, "step_checked", *asked, "step_finished", "step_checked"]


async def test_a_result_is_on_record_unchecked_before_a_judge_is_asked(prepared: Any) -> None:
    one, judge = {**step("a", "send"), "success_criteria": "it is good"}, ScriptedModel([MET])

    async with at_desk(LoggedTools().tool("send")) as desk:
        await (await prepared(desk, one, judge=judge)).run()
        told = [(event.kind, event.payload.get("unchecked")) for event in await desk.ledger.events(desk.run)][1:]

    assert [kind for kind, _ in told] == [
        "call_started",
        "call_finished",
        "model_started",
        "model_finished",
        "step_checked",
    ]
    assert dict(told)["call_finished"] is True


async def test_the_result_of_a_model_is_on_record_with_the_opinion_about_it(prepared: Any) -> None:
    one, judge = {**step("a"), "success_criteria": "it is good"}, ScriptedModel([MET])

    _, kinds = await outcome(prepared, one, model=ScriptedModel(["good"]), judge=judge)

    assert kinds == ["model_started", "model_finished"] * 2 + ["step_finished", "step_checked"]


async def test_a_judge_is_asked_about_steps_with_success_criteria_that_models_or_tools_do(prepared: Any) -> None:
    judge, said = ScriptedModel([]), {"success_criteria": "it is good"}

    async with at_desk() as desk:
        criteria = (await prepared(desk, step("a"), judge=judge)).flow.work.criteria
        steps = [{**step("a"), **said}, step("a"), {"id": "a", "objective": "o", "ask": "Which?", **said}]
        assert [criteria.has(Step.model_validate(one)) for one in steps] == [True, False, False]


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ([UNMET], "it is not"),
        ([{"met": False}], "no reason given"),
        (["well"] * 2, "it said: well"),
        ([" \n "] * 2, "it said: nothing"),
    ],
    ids=["a reason", "no reason", "no opinion", "nothing"],
)
async def test_a_step_fails_with_what_its_judge_said_and_a_judge_is_asked_twice_at_most(
    prepared: Any, answers: list[Any], words: str
) -> None:
    one, judge = {**step("a"), "success_criteria": "it is good"}, ScriptedModel(answers)

    result, _ = await outcome(prepared, one, model=ScriptedModel(["good"]), judge=judge)

    assert words in str(result.error)
    assert len(judge.prompts) == len(answers)
