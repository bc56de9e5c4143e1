"""A run as a node reads it: its terms, its plans, and what models and people are shown of it."""

from dataclasses import replace
from typing import Any

import pytest
from run_in_memory import APPROVED, PLAN, finished, planned, run_in_memory

from planner_executor.graph.caller import Caller, invoked_by
from planner_executor.graph.nodes.run.context import RunContext
from planner_executor.graph.plan.reading import ParsedPlan
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.policy.policy import Policy, ToolRule
from planner_executor.graph.record.budget import Budget
from planner_executor.graph.record.person import Approver, Person
from planner_executor.graph.record.plan_state import SeenPlan
from planner_executor.graph.testing import PassingClock, drafted

OTHER = {"steps": [{"id": "b", "objective": "o", "tool": "read"}]}
DENIES = Policy(tools={"send": ToolRule("deny")})


async def asked(ask: Any, *drafts: Any, **settings: Any) -> Any:
    """Return what is asked of a run that these events began."""

    async with run_in_memory(*drafts, **settings) as run:
        found = ask(run)
        return await found if hasattr(found, "__await__") else found


async def test_a_node_has_been_here_before_if_an_event_names_its_checkpoint() -> None:
    assert await asked(lambda run: run.here_before, drafted("paused", {"checkpoint": "c"}))
    assert not (await asked(lambda run: run.here_before, drafted("paused", {"checkpoint": "another"})))


async def test_the_terms_are_made_anew_when_the_budget_has_changed_and_only_then() -> None:
    def terms(run: RunContext) -> Any:
        first = run.terms
        assert run.terms is first and first.budget == Budget()
        run.record.spending.budget = Budget(steps=5)
        return run.terms.budget

    assert await asked(terms) == Budget(steps=5)


async def test_the_latest_plan_and_the_approved_one_are_each_read_once() -> None:
    def plans(run: RunContext) -> Any:
        latest, approved = run.recorded_plan(), run.approved_plan()
        assert run.recorded_plan() is latest and run.approved_plan() is approved
        return [plan and list(plan.by_id) for plan in (latest, approved)]

    assert await asked(plans) == [None, None]
    assert await asked(plans, planned()) == [["a"], None]
    assert await asked(plans, planned(), APPROVED, planned(OTHER, 2)) == [["b"], ["a"]]


async def test_people_see_the_results_that_a_step_rests_on() -> None:
    step = Step(id="z", objective="o", depends_on=("a", "large", "none"))

    seen = await asked(
        lambda run: run.seen_by(step), finished("a"), finished("large", artifact={"id": "x", "size": 9_999})
    )

    assert seen == {"a": "done", "large": {"id": "x", "size": 9_999}}


@pytest.mark.parametrize(
    ("names", "offered"), [((), ["read", "page"]), (("read", "send"), ["read"]), (("gone",), [])], ids=str
)
async def test_a_planner_is_offered_the_tools_that_are_not_denied(names: tuple[str, ...], offered: list[str]) -> None:
    step = Step(id="a", objective="o", refine=True, tools=names)

    assert [tool.name for tool in (await asked(lambda run: run.offered(step), policy=DENIES)).tools] == offered


async def test_a_planner_is_told_what_is_left() -> None:
    def limits(run: RunContext) -> Any:
        run.record.spending.budget = Budget(steps=5, tool_calls=0)
        run.record.spending.usage = run.record.spending.usage.plus(steps=2)
        run.record.plan_state.replans = 1
        return run.planner_limits

    assert await asked(limits) == {"replans_left": 1, "budget_left": {"steps": 3, "tool_calls": 0}}


async def test_a_planner_without_limits_is_told_how_often_it_may_replan_even_if_never() -> None:
    assert await asked(lambda run: run.planner_limits, max_replans=0) == {"replans_left": 0}


async def test_a_plan_that_the_policy_forbids_or_that_replaces_nothing_is_refused() -> None:
    sends = Plan(steps=(Step(id="a", objective="o", tool="send"),))
    replaces = Plan(steps=(Step(id="a", objective="o", replaces="gone"),))

    assert [issue.field for issue in await asked(lambda run: run.allowed(ParsedPlan(sends)).issues, policy=DENIES)] == [
        "tool"
    ]
    assert [issue.field for issue in await asked(lambda run: run.allowed(ParsedPlan(replaces)).issues)] == ["replaces"]


async def test_a_plan_that_nothing_forbids_and_one_that_was_refused_before_are_left_as_they_are() -> None:
    for reading in (ParsedPlan(Plan(steps=(Step(id="a", objective="o", tool="send"),))), ParsedPlan(None)):
        assert await asked(lambda run, given=reading: run.allowed(given)) is reading


async def test_a_models_plan_keeps_to_the_horizon() -> None:
    two = Plan(steps=tuple(Step(id=name, objective="o") for name in "ab"))

    assert (await asked(lambda run: run.planned(ParsedPlan(two)), horizon=1)).plan is None
    assert (await asked(lambda run: run.allowed(ParsedPlan(two)), horizon=1)).plan is two


async def test_an_invocation_that_began_the_run_is_repeated_and_no_other_is() -> None:
    async def is_repeated(given: str | None, recorded: str | None) -> bool:
        def ask(run: RunContext) -> bool:
            run.record.assignment = replace(run.record.assignment, invocation=recorded)
            return replace(run, invocation=given).is_repeated

        return bool(await asked(ask))

    found = [
        await is_repeated(given, recorded) for given, recorded in (("i", "i"), ("i", "j"), (None, None), (None, "i"))
    ]
    assert found == [True, False, False, False]


async def test_the_time_since_the_start_is_that_of_the_clock_in_use() -> None:
    def elapsed(run: RunContext) -> float:
        run.record.started_at = 1_000.0
        return replace(run, services=replace(run.services, pauses=PassingClock(1_007.5).clock)).elapsed_s

    assert await asked(elapsed) == 7.5


async def test_who_acts_is_whom_the_facade_found_or_else_whom_an_adapter_knows() -> None:
    def approvers(run: RunContext) -> list[str]:
        known = replace(run, services=replace(run.services, identity=lambda _: Person("eve")))
        with invoked_by(Caller(run.key.thread, by=Approver("ada", "server"))):
            found = [str(known.approver)]
        return [*found, str(known.approver)]

    assert await asked(approvers) == ["server:ada", "server:eve"]


async def test_a_plan_is_compared_with_what_a_person_saw_last_or_else_with_what_ran_last() -> None:
    def before(run: RunContext, digest: str | None) -> Any:
        run.record.plan_state.approved_revision = 7
        run.record.plan_state.seen = SeenPlan(3, digest, OTHER) if digest is not None else None
        found = run.plan_before(Plan.model_validate(PLAN))
        return found.plan and list(found.plan.by_id), found.revision, found.was_seen

    assert await asked(lambda run: before(run, "another"), planned(), APPROVED) == (["b"], 3, True)
    assert await asked(lambda run: before(run, None), planned(), APPROVED) == (["a"], 7, False)
    assert await asked(lambda run: before(run, None)) == (None, 7, False)
