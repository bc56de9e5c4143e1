"""What a run is to do: as it was started, with the amendments since."""

from planner_executor.graph.record.assignment import Assignment
from planner_executor.graph.record.events import Configuration, Configured, RunStarted, Steered

STARTED = RunStarted(thread="t", n=2, goal="g", constraints=("c",), setup={"approval": "always"}, setup_by="facade")
SETTINGS = Configuration(settings={"max_replans": 0})


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
