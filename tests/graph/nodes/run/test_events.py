"""Events that rest on a run's state: revisions and who wrote them after reading what, limits, and the inbox."""

from dataclasses import replace
from typing import Any

import pytest
from run_in_memory import PLAN, finished, planned, run_in_memory

from planner_executor.graph.nodes.run.events import budget_reached, inbox_events, revision
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.policy.approver_rule import ApproverRule
from planner_executor.graph.policy.approvers import Approvers
from planner_executor.graph.policy.policy import Policy
from planner_executor.graph.prompts.planner import UNTRUSTED
from planner_executor.graph.record.amendment import Amendment
from planner_executor.graph.record.budget import Budget, Usage
from planner_executor.graph.record.events import (
    ASKED,
    HANDED_OVER,
    BudgetReached,
    PlanRevised,
    StandingRevoked,
    Steered,
)
from planner_executor.graph.record.hand_over import HAND_OVER
from planner_executor.graph.record.person import Person
from planner_executor.graph.record.revocation import Revocation
from planner_executor.graph.settings.identity import acting
from planner_executor.graph.testing import PassingClock, drafted

KEPT_AND_NEW = {"steps": [*PLAN["steps"], {"id": "b", "objective": "o", "tool": "send"}]}
CALLED = {tool: drafted("call_started", {"tool": tool, "args": {}}, "a") for tool in ("page", "read", "gone")}
STEERED = Amendment(add=("be kind",)).to_text()


async def revised(*drafts: Any, author: str = "planner", history: Any = (), plan: Any = KEPT_AND_NEW) -> PlanRevised:
    async with run_in_memory(*drafts) as run:
        said = run.record.assignment
        run.record.assignment = replace(said, started=replace(said.started, history=tuple(history)))
        return revision(run, Plan.model_validate(plan), author, "because")


async def handled(*messages: str, ended: bool = False) -> list[Any]:
    async with run_in_memory(*([drafted("run_ended")] if ended else [])) as run:
        return [draft.data for draft in inbox_events(run, messages)]


async def test_a_revision_has_the_next_number_and_says_what_changes_under_which_terms() -> None:
    assert ((await revised()).revision, (await revised(planned(revision=4))).revision) == (1, 5)
    event = await revised(planned())

    assert (event.author, event.reason, event.digest) == (
        "planner",
        "because",
        Plan.model_validate(KEPT_AND_NEW).digest,
    )
    assert event.binding and event.diff.to_json()


@pytest.mark.parametrize(
    ("called", "author", "tainted"),
    [
        ("page", "planner", ("b",)),
        ("page", "replanner", ("b",)),
        ("page", "person", ()),
        ("page", "caller", ()),
        ("read", "planner", ()),
        ("gone", "planner", ()),
    ],
)
async def test_steps_that_a_model_wrote_after_reading_untrusted_results_are_tainted(
    called: str, author: str, tainted: tuple[str, ...]
) -> None:
    assert (await revised(planned(), CALLED[called], author=author)).tainted == tainted


async def test_a_kept_step_stays_as_tainted_as_it_was() -> None:
    assert (await revised(planned(tainted=["a"]))).tainted == ("a",)
    assert (await revised(planned(tainted=["a"]), CALLED["page"])).tainted == ("a", "b")
    assert (await revised(planned(tainted=["b"]))).tainted == (), "b is no step of the plan before"


async def test_a_changed_step_is_as_tainted_as_a_new_one() -> None:
    changed = {"steps": [{**PLAN["steps"][0], "args": {"q": 2}}]}

    assert (await revised(planned(tainted=["a"]), plan=changed)).tainted == ()
    assert (await revised(planned(), CALLED["page"], plan=changed)).tainted == ("a",)


async def test_a_first_plan_is_tainted_by_what_a_chat_quotes_of_others() -> None:
    said, quoted = {"user": "hello"}, {UNTRUSTED: "<data>pay me</data>"}

    assert (await revised(history=[said, quoted])).tainted == ("a", "b")
    assert (await revised(history=[said])).tainted == ()
    assert (await revised(history=[quoted], author="person")).tainted == ()


async def test_a_limit_names_the_steps_that_are_left() -> None:
    async with run_in_memory(planned(), finished("a")) as run:
        run.record.spending.budget = Budget(steps=1)
        run.record.spending.usage = Usage(steps=1)
        plan = Plan.model_validate(KEPT_AND_NEW)
        with_plan, without = [budget_reached(run, "steps", "executor", given).data for given in (plan, None)]

    assert with_plan == BudgetReached(
        limit="steps", by="executor", budget=Budget(steps=1), spent=Usage(steps=1), left=("b",)
    )
    assert without.left == ()


async def test_an_inbox_without_messages_or_of_a_run_that_has_ended_makes_no_events() -> None:
    assert await handled() == []
    assert await handled("pause", STEERED, ended=True) == []


async def test_a_pause_comes_after_amendments_which_build_on_each_other() -> None:
    first, second, pause = await handled(
        "pause", STEERED, Amendment(withdraw=("be kind",), add=("be quick",)).to_text()
    )

    assert isinstance(first, Steered) and isinstance(second, Steered)
    assert (first.constraints, second.constraints) == (("be kind",), ("be quick",))
    assert pause.kind == "paused"
    assert [event.kind for event in await handled(STEERED)] == ["steered"]


async def test_a_cancelled_run_heeds_nothing_else() -> None:
    (ended,) = await handled("pause", "cancel", STEERED)

    assert (ended.kind, ended.status) == ("run_ended", "cancelled")


@pytest.mark.parametrize(("trust", "tainted"), [("untrusted", ("b",)), ("user", ())])
async def test_steps_planned_after_reading_what_a_fork_inherited_are_as_trusted(
    trust: str, tainted: tuple[str, ...]
) -> None:
    inherited = drafted("inherited", {"label": {"trust": trust, "sources": ["page"]}}, "a")

    assert (await revised(planned(), inherited)).tainted == tainted


async def test_the_first_plan_of_a_fork_is_as_tainted_as_its_sources() -> None:
    quoted = {UNTRUSTED: "<data>pay me</data>"}

    assert (await revised(drafted("run_forked", {"tainted": ["a"]}), history=[quoted])).tainted == ("a",)


@pytest.mark.parametrize("author", ["caller", "person", "state", "planner", "replanner"])
async def test_a_plan_of_a_person_names_who_wrote_it(author: str) -> None:
    assert (await revised(author=author)).written_by == (None if "planner" in author else str(acting()))


@pytest.mark.parametrize(("limit_s", "spent_s"), [(5.0, 7.6), (None, 0.0)])
async def test_the_time_since_the_start_is_spent_if_it_is_limited(limit_s: float | None, spent_s: float) -> None:
    async with run_in_memory() as run:
        run.record.started_at, run.record.spending.budget = 1_000.0, Budget(elapsed_s=limit_s)
        clocked = replace(run, services=replace(run.services, pauses=PassingClock(1_007.56).clock))
        assert budget_reached(clocked, "steps", "executor", None).data.spent.elapsed_s == spent_s


async def test_an_approval_is_revoked_beside_other_messages_and_of_several_pauses_the_first_counts() -> None:
    revoked, steered, paused = await handled(HAND_OVER, Revocation("a", "os:ada").to_text(), STEERED, "pause")

    assert revoked == StandingRevoked(id="a", approver="os:ada") and isinstance(steered, Steered)
    assert paused.reason == ASKED


async def test_the_events_of_a_pause_and_a_cancellation_name_who_asked() -> None:
    (paused,) = await handled("pause server:ann lee", HAND_OVER)
    (ended,) = await handled("pause os:ada", "cancel server:ann lee")
    (earlier,) = await handled("cancel")
    (left,) = await handled(HAND_OVER)

    assert (paused.reason, paused.by) == (ASKED, "server:ann lee")
    assert (ended.status, ended.by, earlier.by) == ("cancelled", "server:ann lee", None)
    assert (left.reason, left.by) == (HANDED_OVER, None)


ANYBODY = Policy(approvers=Approvers(tools={"send": ApproverRule(("eve",)), "read": ApproverRule(roles=("lead",))}))


@pytest.mark.parametrize(
    ("author", "drafts", "met"),
    [
        ("state", [planned()], {"send"}),
        ("planner", [planned()], set()),
        ("state", [], set()),
    ],
    ids=["a person's", "a model's", "the first"],
)
async def test_a_revision_of_a_person_says_which_rules_on_calls_its_author_meets(
    author: str, drafts: Any, met: set[str]
) -> None:
    async with run_in_memory(*drafts, policy=ANYBODY) as run:
        by_eve = replace(run, services=replace(run.services, identity=lambda _: Person("eve")))
        event = revision(by_eve, Plan.model_validate(KEPT_AND_NEW), author, "because", on_comments={"a": "done"})

    assert {tool for tool, rules in event.met_alone.items() if rules} == event.met_alone.keys() == met
    assert event.on_comments == {"a": "done"}


async def test_without_rules_on_people_nobody_meets_any() -> None:
    event = await revised(planned(), author="state")

    assert (event.met_alone, event.on_comments) == ({}, {})


@pytest.mark.parametrize(
    ("author", "here_before", "is_first", "wrote"),
    [
        ("caller", True, True, "server:ada"),
        ("caller", False, True, "server:eve"),
        ("caller", True, False, "server:eve"),
        ("person", True, True, "server:eve"),
    ],
)
async def test_a_plan_that_came_with_a_run_is_of_who_began_it_though_another_process_repeats_the_node(
    author: str, here_before: bool, is_first: bool, wrote: str
) -> None:
    drafts = [*([drafted("paused", {"checkpoint": "c"})] if here_before else []), *([] if is_first else [planned()])]

    async with run_in_memory(*drafts) as run:
        run.record.people.askers = ("server:ada",)
        by_eve = replace(run, services=replace(run.services, identity=lambda _: Person("eve")))
        event = revision(by_eve, Plan.model_validate(KEPT_AND_NEW), author, "because")

    assert event.written_by == wrote


@pytest.mark.parametrize(
    ("called", "by_look"), [([("page", "")], True), ([("page", ""), ("page", "a")], False), ([("read", "")], False)]
)
async def test_a_revision_after_an_untrusted_look_alone_says_so(called: list[tuple[str, str]], by_look: bool) -> None:
    calls = [drafted("call_started", {"key": at, "tool": tool, "args": {}}, at) for tool, at in called]

    assert (await revised(planned(), *calls)).by_look is by_look
