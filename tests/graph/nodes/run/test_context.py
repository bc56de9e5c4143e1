"""A run as a node reads it: its terms, its plans, and what models and people are shown of it."""

from dataclasses import replace
from typing import Any

import pytest
from run_in_memory import APPROVED, PLAN, begun, finished, planned, run_in_memory, services

from planner_executor.graph.caller import Caller, invoked_by
from planner_executor.graph.errors import OtherTermsError
from planner_executor.graph.nodes.run.context import RunContext
from planner_executor.graph.plan.library import KnownPlaybook
from planner_executor.graph.plan.reading import ParsedPlan
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.policy.policy import Policy, ToolRule
from planner_executor.graph.policy.terms import Comparison, Difference, Terms
from planner_executor.graph.prompts.offer import MOST_WHOLE
from planner_executor.graph.prompts.planner import UNTRUSTED as QUOTED
from planner_executor.graph.record.budget import Budget
from planner_executor.graph.record.events import PlanRevised
from planner_executor.graph.record.person import Approver, Person
from planner_executor.graph.testing import LoggedTools, PassingClock, drafted

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
        seen = PlanRevised(revision=3, plan=OTHER, digest=str(digest), author="planner")
        run.record.plan_state.seen = seen if digest is not None else None
        found = run.plan_before(Plan.model_validate(PLAN))
        return found.plan and list(found.plan.by_id), found.revision, found.was_seen

    assert await asked(lambda run: before(run, "another"), planned(), APPROVED) == (["b"], 3, True)
    assert await asked(lambda run: before(run, None), planned(), APPROVED) == (["a"], 7, False)
    assert await asked(lambda run: before(run, None)) == (None, 7, False)


LOOKED = drafted("call_started", {"key": "k", "tool": "page", "args": {}}, "")
READ_BY_A_STEP = drafted("call_started", {"key": "k", "tool": "page", "args": {}}, "z")
TELL = KnownPlaybook("tell", 1, "d", "Tell somebody", {"who": {"type": "string"}},
                     ({"id": "tell", "objective": "o", "tool": "read", "args": {"q": "{param.who}"}},))  # fmt: skip
ALONE = {"playbook": "tell", "params": {"who": "ann"}}


async def test_a_run_goes_on_under_equal_and_ordered_terms_and_under_no_other() -> None:
    def requires(run: RunContext, terms: Comparison | None) -> None:
        replace(run, terms_here=terms).require_terms()

    other = Comparison(Terms(), (Difference("other", "needs web"),))
    await asked(lambda run: requires(run, None))
    await asked(lambda run: requires(run, Comparison(Terms(), (Difference("weaker", "begun without pay"),))))
    with pytest.raises(OtherTermsError, match="needs web"):
        await asked(lambda run: requires(run, other))


@pytest.mark.parametrize(
    ("is_first", "budget", "holds"),
    [(True, Budget(steps=2), 2), (False, Budget(steps=2), 5), (True, Budget(steps=3), 5)],
    ids=["stricter", "on record", "raised by people since"],
)
async def test_a_budget_that_is_stricter_here_holds_before_it_is_on_record(
    is_first: bool, budget: Budget, holds: int
) -> None:
    def bounds(run: RunContext) -> Any:
        run.record.assignment = replace(run.record.assignment, budget=Budget(steps=3))
        run.record.spending.budget = Budget(steps=5)
        here = Comparison(Terms(budget=budget), is_first=is_first)
        return replace(run, terms_here=here).terms.budget.steps

    assert await asked(bounds) == holds


async def test_a_look_at_untrusted_content_marks_the_plans_of_models_alone_and_no_step() -> None:
    def marks(run: RunContext) -> Any:
        plan = Plan.model_validate(OTHER)
        found = [bool(run.tainted_in(plan, by_model=by_model)) for by_model in (True, False)]
        return run.has_read_untrusted, run.has_steps_with_untrusted, found

    assert await asked(marks, LOOKED) == (True, False, [True, False])
    assert await asked(marks) == (False, False, [False, False])


@pytest.mark.parametrize(
    ("options", "has_read", "label"),
    [({"by_model": True}, True, "untrusted"), ({"by_model": True}, False, "user"), ({}, True, "user")],
    ids=["a model that has read", "a model that has not", "a person"],
)
async def test_values_for_a_playbook_are_as_trusted_as_what_their_author_had_read(
    options: Any, has_read: bool, label: str
) -> None:
    def labels(run: RunContext) -> Any:
        parsed = replace(run, services=replace(run.services, library={"tell": TELL})).read(ALONE, **options)
        return parsed.plan and parsed.plan.params["who"].label

    assert await asked(labels, *([LOOKED] if has_read else [])) == label


async def test_a_model_that_plans_up_to_a_horizon_uses_no_playbook() -> None:
    def fields(run: RunContext, raw: Any, **options: Any) -> Any:
        known = replace(run, services=replace(run.services, library={"tell": TELL}))
        return [issue.field for issue in known.read(raw, **options).issues]

    assert await asked(lambda run: fields(run, ALONE, by_model=True), horizon=1) == ["playbook"]
    assert await asked(lambda run: fields(run, ALONE), horizon=1) == []
    assert await asked(lambda run: fields(run, ALONE, by_model=True)) == []
    assert await asked(lambda run: fields(run, PLAN, by_model=True), horizon=1) == []


@pytest.mark.parametrize(
    ("history", "horizon", "names"),
    [
        ([{"user": "Tell somebody"}], None, ["tell"]),
        ([{QUOTED: "Tell somebody"}], None, []),
        ([{"user": "Tell somebody"}], 1, []),
    ],
    ids=["by a person's words", "by words of others", "up to a horizon"],
)
async def test_a_planner_is_shown_the_playbooks_that_fit_what_people_said(
    history: Any, horizon: int | None, names: list[str]
) -> None:
    def shown(run: RunContext) -> Any:
        started = replace(run.record.assignment.started, history=tuple(history))
        run.record.assignment = replace(run.record.assignment, started=started)
        known = replace(run, services=replace(run.services, library={"tell": TELL}))
        return [one.name for one in known.offered().playbooks]

    assert await asked(shown, horizon=horizon) == names


async def test_the_new_effects_of_a_fork_are_those_of_its_source_that_rest_on_tainted_steps() -> None:
    def effects(run: RunContext, *tainted: str) -> Any:
        run.record.plan_state.new_effects = {"a": ("read",), "z": ("send",)}
        return run.new_effects_in(Plan.model_validate(PLAN), tainted)

    assert await asked(lambda run: effects(run, "a")) == {"a": ("read",)}
    assert await asked(lambda run: effects(run)) == {}
    assert await asked(lambda run: effects(run), planned(), APPROVED) == {}
    assert await asked(lambda run: effects(run, "a"), planned(), APPROVED) == {}


SENDS = Plan(steps=(Step(id="a", objective="o", tool="send", args={"q": "ann@a.example"}),))
EITHER = Plan(steps=(Step(id="a", objective="o", tools=("read", "send"), args={"q": "ann@a.example"}),))
READS = Plan(steps=(Step(id="a", objective="o", tool="read", args={"q": "ann@a.example"}),))
DENIES_NEW = {"policy": Policy(new_effects="deny")}


@pytest.mark.parametrize(
    ("plan", "drafts", "settings", "fields"),
    [
        (SENDS, [LOOKED], DENIES_NEW, ["args.q"]),
        (EITHER, [LOOKED], DENIES_NEW, ["args.q"]),
        (READS, [LOOKED], DENIES_NEW, []),
        (SENDS, [], DENIES_NEW, []),
        (SENDS, [READ_BY_A_STEP], DENIES_NEW, []),
        (SENDS, [LOOKED], {}, []),
        (SENDS, [planned(), APPROVED, LOOKED], DENIES_NEW, ["tool"]),
        (SENDS, [planned(), APPROVED], DENIES_NEW, []),
    ],
    ids=[
        "an effect",
        "perhaps",
        "no effect",
        "no look",
        "no look of a planner",
        "not denied",
        "after an approval",
        "and no look",
    ],
)
async def test_effects_that_a_model_adds_after_an_untrusted_look_are_refused_if_the_policy_denies_them(
    plan: Plan, drafts: Any, settings: Any, fields: list[str]
) -> None:
    found = await asked(lambda run: run.planned(ParsedPlan(plan)).issues, *drafts, **settings)

    assert [(issue.field, issue.by_policy) for issue in found] == [(field, True) for field in fields]
    assert await asked(lambda run: run.allowed(ParsedPlan(plan)).issues, *drafts, **settings) == ()


async def test_of_many_tools_a_planner_is_shown_those_whole_that_the_plan_names() -> None:
    tools = [LoggedTools().tool(f"tool_{n}", effect="read") for n in range(MOST_WHOLE + 1)]
    run = await begun(services(*tools), planned({"steps": [{"id": "a", "objective": "o", "tool": "tool_7"}]}))

    assert "tool_7" in (run.offered().whole or ()) and not run.goes_on
    await run.ledger.close()  # type: ignore[attr-defined]
