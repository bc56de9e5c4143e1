"""What a run is to do: as it was started, with the amendments since."""

from dataclasses import replace

import pytest

from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.record.assignment import Assignment, lowered
from planner_executor.graph.record.budget import NO_BUDGET, Budget
from planner_executor.graph.record.events import Configuration, Configured, Content, RunForked, RunStarted, Steered

STARTED = RunStarted(thread="t", n=2, goal="g", constraints=("c",), setup={"approval": "always"}, setup_by="facade")
SETTINGS, OTHER = Configuration(settings={"max_replans": 0}), Configuration(settings={"max_replans": 1})
PICTURE, ANOTHER = Content(value=["a.png"]), Content(value=["b.png"])


def test_an_assignment_has_what_the_run_was_started_with() -> None:
    found = Assignment().run_started(STARTED)

    assert (found.started, found.key, found.constraints) == (STARTED, ("t", 2), ("c",))
    assert (found.setup, found.setup_by) == ({"approval": "always"}, "facade")


def test_an_amendment_sets_the_constraints_and_nothing_else() -> None:
    before = Assignment().run_started(STARTED)

    after = before.steered(Steered(constraints=("c", "d"), added=("d",)))

    assert (after.constraints, after.started.goal) == (("c", "d"), "g")
    assert before.constraints == ("c",)


def test_other_settings_replace_those_before() -> None:
    assert Assignment().configured(Configured(configuration=SETTINGS)).configuration == SETTINGS


def test_a_run_that_was_not_started_has_no_number() -> None:
    assert Assignment().key.n == 0


@pytest.mark.parametrize(("origin", "shown"), [("cli", "cli"), (None, "facade")])
def test_an_older_record_has_its_origin_from_who_wrote_the_setup(origin: str | None, shown: str) -> None:
    assert Assignment().run_started(replace(STARTED, origin=origin)).origin == shown


@pytest.mark.parametrize(("started", "holds"), [(SETTINGS, SETTINGS), (None, OTHER)])
def test_settings_on_record_stay_if_the_start_has_none(started: Configuration | None, holds: Configuration) -> None:
    before = Assignment(configuration=OTHER)

    assert before.run_started(replace(STARTED, configured=started)).configuration == holds


@pytest.mark.parametrize(("own", "has"), [(PICTURE, PICTURE), (None, ANOTHER)])
def test_a_fork_has_pictures_of_its_own_or_those_of_its_start(own: Content | None, has: Content) -> None:
    fork = Assignment(attached=ANOTHER).run_forked(RunForked(source="t.1", attached=own))

    assert (fork.forked_from, fork.attached) == ("t.1", has)


@pytest.mark.parametrize(
    ("given", "holds"),
    [(None, Budget(steps=5)), (Budget(steps=3), Budget(steps=3)), (Budget(steps=9), Budget(steps=5))],
)
def test_other_terms_only_tighten_the_budget(given: Budget | None, holds: Budget) -> None:
    after = Assignment(budget=Budget(steps=5)).configured(Configured(configuration=SETTINGS, budget=given))

    assert after.budget == holds and Assignment().budget == NO_BUDGET


def told(*constraints: str) -> tuple[Step, ...]:
    return (Step(id="a", objective="o", constraints=constraints),)


def test_a_step_may_leave_out_constraints_of_the_goal_and_none_that_were_added_since() -> None:
    run = Assignment().run_started(STARTED).steered(Steered(constraints=("c", "d"), added=("d",)))
    (bare,), (with_c,), every = told(), told("c"), Step(id="b", objective="o")

    assert [run.left_out_of(one) for one in (bare, with_c, every)] == [("c",), (), ()]
    assert [run.told_to(one) for one in (bare, with_c, every)] == [("d",), ("c", "d"), ("c", "d")]


@pytest.mark.parametrize(("constraints", "has"), [(("c",), "'c'"), ((), "none")])
def test_a_constraint_of_a_step_that_is_none_of_the_goal_is_an_issue(constraints: tuple[str, ...], has: str) -> None:
    run = Assignment().run_started(replace(STARTED, constraints=constraints))
    plan = Plan(steps=(*told("x", *constraints), Step(id="b", objective="o")))

    (issue,) = run.constraint_issues(plan)

    assert (issue.step, issue.message) == ("a", f"'x' is no constraint of the goal; it has {has}")


def test_a_run_of_a_playbook_has_a_goal_of_its_own_if_it_was_given_one() -> None:
    assert Assignment(replace(STARTED, playbook={"name": "tell", "goal": "g"})).own_goal
    assert not Assignment(replace(STARTED, playbook={"name": "tell"})).own_goal and not Assignment().started.keeps_names


def test_a_facade_that_takes_a_run_over_leaves_its_setup_and_others_leave_the_one_before() -> None:
    before = Assignment(setup={"approval": "always"}, setup_by="cli")

    found = [before.configured(Configured(configuration=SETTINGS, setup=setup)) for setup in (None, {})]

    assert [(one.setup, one.setup_by) for one in found] == [({"approval": "always"}, "cli"), ({}, "facade")]


def test_a_run_of_a_playbook_keeps_within_the_limits_of_the_playbook() -> None:
    assert lowered(Budget(steps=5), {"limits": {"steps": 3}}) == Budget(steps=3)
    assert lowered(Budget(steps=5), {}) == Budget(steps=5)
