"""Whether a result will do: checks, then a judge, and another try if the work may be repeated."""

from typing import Any

import pytest
from desk import Desk, at_desk

from graph.testing import LoggedTools, ScriptedModel, step

MET, UNMET = {"met": True, "why": "it is"}, {"met": False, "why": "it is not"}


def outcome(prepared: Any, one: dict[str, Any], *tools: Any, **settings: Any) -> tuple[Any, list[str]]:
    async def work(desk: Desk) -> tuple[Any, list[str]]:
        passed = await (await prepared(desk, one, **settings)).run()
        return passed.results["a"], await desk.kinds()

    return at_desk(work, *tools)


def test_a_result_that_meets_no_check_fails_its_step(prepared: Any) -> None:
    result, kinds = outcome(prepared, {"id": "a", "objective": "o", "gather": "", "checks": [{"non_empty": True}]})

    assert (result.status, kinds) == ("failed", ["step_finished", "step_checked"])


def test_work_that_may_be_repeated_is_tried_again(prepared: Any) -> None:
    said = iter(["", "found"])
    tools = LoggedTools()
    look = tools.tool("look", lambda **_: next(said), effect="read")

    result, _ = outcome(prepared, {**step("a", "look"), "checks": [{"non_empty": True}]}, look, max_check_attempts=2)

    assert (result.value, len(tools.calls)) == ("found", 2)


def test_an_effect_is_not_repeated_for_a_check(prepared: Any) -> None:
    tools = LoggedTools()
    send = tools.tool("send", lambda **_: "")

    result, _ = outcome(prepared, {**step("a", "send"), "checks": [{"non_empty": True}]}, send, max_check_attempts=4)

    assert (result.status, len(tools.calls)) == ("failed", 1)


@pytest.mark.parametrize(("opinion", "status"), [(MET, "succeeded"), (UNMET, "failed")])
def test_a_judge_decides_about_success_criteria(prepared: Any, opinion: dict[str, Any], status: str) -> None:
    one, judge = {**step("a"), "success_criteria": "it is good"}, ScriptedModel([opinion])

    result, _ = outcome(prepared, one, model=ScriptedModel(["good"]), judge=judge)

    assert result.status == status


def test_a_judge_is_asked_once_about_the_same_result(prepared: Any) -> None:
    one, judge = {**step("a"), "success_criteria": "it is good"}, ScriptedModel([UNMET])

    result, _ = outcome(prepared, one, model=ScriptedModel(["same", "same"]), judge=judge, max_check_attempts=2)

    assert (result.status, len(judge.prompts)) == ("failed", 1)


def test_a_judge_that_gives_no_opinion_is_asked_once_more(prepared: Any) -> None:
    one, judge = {**step("a"), "success_criteria": "it is good"}, ScriptedModel(["well", MET])

    result, _ = outcome(prepared, one, model=ScriptedModel(["good"]), judge=judge)

    assert (result.status, len(judge.prompts)) == ("succeeded", 2)


def test_a_check_that_is_not_met_needs_no_judge(prepared: Any) -> None:
    one = {"id": "a", "objective": "o", "gather": "", "checks": [{"non_empty": True}], "success_criteria": "good"}

    result, _ = outcome(prepared, one, judge=ScriptedModel([]))

    assert result.status == "failed"
