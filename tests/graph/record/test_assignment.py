"""What a run is to do: as it was started, with the amendments since."""

from dataclasses import replace

import pytest

from planner_executor.graph.record.assignment import Assignment
from planner_executor.graph.record.budget import NO_BUDGET, Budget
from planner_executor.graph.record.events import Configuration, Configured, Content, RunForked, RunStarted, Steered

STARTED = RunStarted(thread="t", n=2, goal="g", constraints=("c",), setup={"approval": "always"}, setup_by="facade")
SETTINGS, OTHER = Configuration(settings={"max_replans": 0}), Configuration(settings={"max_replans": 1})
PICTURE, ANOTHER = Content(value=["a.png"]), Content(value=["b.png"])


def test_an_assignment_has_what_the_run_was_started_with() -> None:
    found = Assignment().run_started(STARTED)

    assert (found.thread, found.n, found.goal, found.constraints) == ("t", 2, "g", ("c",))
    assert (found.setup, found.setup_by) == ({"approval": "always"}, "facade")


def test_an_amendment_sets_the_constraints_and_nothing_else() -> None:
    before = Assignment().run_started(STARTED)

    after = before.steered(Steered(constraints=("c", "d"), added=("d",)))

    assert (after.constraints, after.goal) == (("c", "d"), "g")
    assert before.constraints == ("c",)


def test_other_settings_replace_those_before() -> None:
    assert Assignment().configured(Configured(configuration=SETTINGS)).configuration == SETTINGS


def test_a_run_that_was_not_started_has_no_number() -> None:
    assert Assignment().n == 0


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
