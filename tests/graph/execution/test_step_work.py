"""What the steps of a pass share: results on record, inputs, labels, and whether work may be done again."""

import threading
from typing import Any

import pytest
from desk import Desk, at_desk

from planner_executor.graph.execution.step_outcome import StepOutcome
from planner_executor.graph.execution.step_work import StepWork, evaluated
from planner_executor.graph.plan.canonical import digest
from planner_executor.graph.plan.params import Param
from planner_executor.graph.plan.references import SKIPPED
from planner_executor.graph.plan.schema import Step
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.trust_label import USER, TrustLabel
from planner_executor.graph.testing import LoggedTools, step

PAGE = TrustLabel("untrusted", ("page",))
READ, SEND = LoggedTools().tool("read", effect="read"), LoggedTools().tool("send")
EMPTY = [{"non_empty": True}]


async def work_on(prepared: Any, desk: Desk, *steps: dict[str, Any], **settings: Any) -> StepWork:
    work: StepWork = (await prepared(desk, *steps, **settings)).flow.work
    return work


async def with_step(prepared: Any, one: dict[str, Any], ask: Any) -> Any:
    """Return what is asked of the work of a pass over two steps, the first of which reads a page."""

    async with at_desk(READ, SEND) as desk:
        found = await work_on(prepared, desk, step("page", "read"), one)
        found.values["page"], found.labels["page"] = "text", PAGE
        answer = ask(found, Step.model_validate(one))
        return await answer if hasattr(answer, "__await__") else answer


async def test_a_step_has_the_results_of_its_dependencies_as_far_as_there_are_any(prepared: Any) -> None:
    one = step("send", "send", after=["page", "lost"])

    async with at_desk(READ, SEND) as desk:
        found = await work_on(prepared, desk, step("page", "read"), step("lost", "read"), one)
        found.values["page"] = "text"
        assert found.before(Step.model_validate(one)) == {"page": "text"}


@pytest.mark.parametrize("run_if", [None, "any"])
async def test_only_for_a_step_that_runs_if_any_has_run_what_was_skipped_is_null(
    prepared: Any, run_if: str | None
) -> None:
    one = step("send", "send", after=["page", "lost"]) | ({"run_if": run_if} if run_if else {})

    async with at_desk(READ, SEND) as desk:
        found = await work_on(prepared, desk, step("page", "read"), step("lost", "read"), step("other", "read"), one)
        found.values |= {"page": "text", "other": 1}
        skipped = {"lost": SKIPPED} if run_if else {}
        assert found.values_for(Step.model_validate(one)) == {"page": "text", "other": 1, **skipped}


EACH = {**step("send", after=["page"]), "for_each": "{list_result}"}


@pytest.mark.parametrize(
    ("one", "shown"),
    [
        (step("send", after=["page", "list"]), {"page": "text", "list": [1, 2]}),
        (EACH, {"page": "text", "item": 2}),
        ({**EACH, "args": {"n": "{item_result}"}}, {"page": "text"}),
        ({**EACH, "args": {"n": "{item_result.n}"}}, {"page": "text", "item": 2}),
    ],
    ids=["no items", "an item", "an item in the arguments", "a part of it in the arguments"],
)
async def test_an_item_is_shown_once_and_its_list_is_not(prepared: Any, one: Any, shown: Any) -> None:
    async with at_desk(READ) as desk:
        found = await work_on(prepared, desk, step("page", "read"), step("list", "read"), one)
        found.values |= {"page": "text", "list": [1, 2]}
        assert found.shown(Step.model_validate(one), 2) == shown


@pytest.mark.parametrize(("given", "most"), [({}, 1), ({"max_calls": 3}, 3)])
async def test_a_model_is_told_how_often_it_may_call_each_of_its_tools(
    prepared: Any, given: dict[str, Any], most: int
) -> None:
    one = {**step("a"), "tools": ["read", "send"], **given}

    brief = await with_step(prepared, one, lambda work, step: work.brief(step, None))

    assert brief.calls == {"read": most, "send": most}


@pytest.mark.parametrize("of", [None, "ann", "bob"])
async def test_the_inputs_of_a_step_are_itself_its_own_its_dependencies_and_the_values_of_its_parameters(
    prepared: Any, of: str | None
) -> None:
    one = step("send", after=["page"]) | ({"objective": "write to {param.who}"} if of else {})
    params = [{"who": of}] if of else []

    def inputs(work: StepWork, given: Step) -> str:
        return work.attempt(given.bound({"who": Param(value=of, label="user")} if of else {}), [1]).inputs

    made = await with_step(prepared, one, inputs)
    assert made == digest([Step.model_validate(one).to_json(), [1], {"page": "text"}, *params])


async def test_what_a_dependency_without_a_label_gives_makes_nothing_untrusted(prepared: Any) -> None:
    def label_read(work: StepWork, given: Step) -> TrustLabel:
        return work.label_read(given)

    assert await with_step(prepared, step("send", after=["page"]), label_read) == PAGE
    async with at_desk(READ) as desk:
        found = await work_on(prepared, desk, step("page", "read"), step("send", after=["page"]))
        assert found.label_read(Step.model_validate(step("send", after=["page"]))) == USER


@pytest.mark.parametrize(
    ("result", "value"),
    [(None, False), (StepResult("failed", error="down"), False), (StepResult("succeeded", "done"), ["done"])],
    ids=["none", "failed", "succeeded"],
)
async def test_only_a_success_on_record_is_the_outcome_of_a_step(prepared: Any, result: Any, value: Any) -> None:
    def recorded(work: StepWork, one: Step) -> Any:
        work.record.steps.results.update({"a": result} if result else {})
        return work.recorded(one)

    outcome = await with_step(prepared, step("a"), recorded)

    assert (outcome is not None and [outcome.value]) == value


@pytest.mark.parametrize(
    ("one", "tries"),
    [
        (step("a", "read"), 2),
        (step("a", "send"), 1),
        ({**step("a"), "tools": ["read", "send"]}, 1),
        ({**step("a"), "tools": ["read"]}, 2),
        ({**step("a", "read"), "for_each": [1]}, 1),
    ],
    ids=["read", "effect", "one of the tools has an effect", "all tools read", "a list"],
)
async def test_only_work_that_may_be_repeated_is_done_again_for_its_criteria(
    prepared: Any, one: dict[str, Any], tries: int
) -> None:
    tried = []

    def assess(work: StepWork, given: Step) -> Any:
        def end() -> StepOutcome:
            tried.append(work.attempt(given).succeeded("", USER))
            return tried[-1]

        async def again(_unmet: str) -> StepOutcome:
            return end()

        return work.assess(given, end(), again)

    async with at_desk(READ, SEND) as desk:
        found = await work_on(prepared, desk, {**one, "checks": EMPTY}, max_check_attempts=2)
        outcome = await assess(found, Step.model_validate({**one, "checks": EMPTY}))
        assert [again for again, _why in found.reports.tries] == ["a"] * (tries - 1)  # type: ignore[attr-defined]

    assert outcome.result.status == "failed"
    assert len(tried) == tries


async def test_an_attempt_that_rests_on_nothing_of_its_own_has_no_digest_of_inputs(prepared: Any) -> None:
    assert (await with_step(prepared, step("a"), lambda work, one: work.attempt(one))).inputs == ""
    assert (await with_step(prepared, step("a"), lambda work, one: work.attempt(one, {}))).inputs != ""


@pytest.mark.parametrize(("tainted", "label"), [(True, "untrusted"), (False, "trusted")])
async def test_a_step_reads_the_plan_that_it_stands_in(prepared: Any, tainted: bool, label: str) -> None:
    def label_read(work: StepWork, one: Step) -> TrustLabel:
        work.record.plan_state.tainted = {"a"} if tainted else {"page"}
        return work.label_read(one)

    assert (await with_step(prepared, step("a"), label_read)).untrusted is tainted


async def test_an_item_is_as_trusted_as_the_list_it_comes_from(prepared: Any) -> None:
    each = {**step("a", "send", to="{item_result}", why="x"), "for_each": "{page_result}"}

    labels = await with_step(prepared, each, lambda work, one: work.argument_labels(one))

    assert (labels["to"], labels["why"]) == (PAGE, USER)


@pytest.mark.parametrize(
    ("value", "elsewhere"), [("{a_result.x}", False), ("{a_result.x[?y > `1`]}", True)], ids=["a path", "an expression"]
)
async def test_only_references_that_may_take_long_are_resolved_on_another_thread(value: str, elsewhere: bool) -> None:
    async with at_desk() as _desk:
        assert (await evaluated(value, threading.get_ident) != threading.get_ident()) is elsewhere
