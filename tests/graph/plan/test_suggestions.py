"""Names that are nearly right are answered with the right ones."""

import pytest

from planner_executor.graph.plan.reading import read_plan
from planner_executor.graph.plan.suggestions import KnownSteps

STEPS = KnownSteps(["step_1", "step_2", "step_3"])


def test_a_step_that_names_itself_is_told_the_one_before() -> None:
    assert STEPS.hint_for_itself("step_3", "{%s_result}").endswith("did you mean {step_2_result}?")


def test_the_first_step_has_none_before_it() -> None:
    assert "first step" in STEPS.hint_for_itself("step_1", "%s")


def test_a_finished_step_comes_before_all_steps_of_a_revision() -> None:
    assert KnownSteps(["step_2"], ["step_1"]).hint_for_itself("step_2", "%s").endswith("did you mean step_1?")


@pytest.mark.parametrize(
    ("name", "step", "meant"),
    [
        ("step1", "step_3", "step_1"),
        ("Step_2", "step_3", "step_2"),
        ("step_4", None, "step_3"),
        ("step3", "step_2", "step_1"),
    ],
)
def test_the_closest_id_is_suggested_and_rather_an_earlier_one(name: str, step: str | None, meant: str) -> None:
    words = STEPS.hint_for(name, step)

    assert words == f"did you mean {meant}? the steps are step_1, step_2, step_3"


@pytest.mark.parametrize(("place", "is_close"), [(0, True), (199, True), (200, False), (201, False), (202, True)])
def test_close_names_are_looked_for_among_the_last_and_the_first_of_many(place: int, is_close: bool) -> None:
    ids = [f"n{number}" for number in range(402)]
    ids[place] = "weather"

    assert KnownSteps(ids).hint_for("wether").startswith("did you mean weather?") is is_close


def test_a_plan_gets_so_many_hints_and_then_the_list_alone() -> None:
    steps = KnownSteps(["step_1"])
    hints = [steps.hint_for("step1") for _ in range(21)]

    assert [hint != steps.listing for hint in hints] == [True] * 20 + [False]


@pytest.mark.parametrize(
    ("ids", "unnamed", "words"),
    [
        ([], [], "the plan has no steps"),
        (["a"], [], "the steps are a"),
        ([], ["steps[0]"], "steps[0] without an id"),
        (["a"], ["steps[1]"], "the steps are a; steps[1] without an id"),
        ([], list("abcdef"), "a, b, c, d, e and 1 more without an id"),
    ],
)
def test_the_list_names_the_steps_and_those_without_an_id(ids: list[str], unnamed: list[str], words: str) -> None:
    assert KnownSteps(ids, unnamed=unnamed).listing == words


def test_where_nothing_is_close_the_steps_are_listed() -> None:
    assert STEPS.hint_for("weather", "step_2") == "the steps are step_1, step_2, step_3"


def test_a_step_counted_from_zero_gets_its_answer_in_validation() -> None:
    steps = [{"id": n, "objective": "o", "args": {"text": f"{{step_{n}_result}}"}} for n in (0, 1)]

    reading = read_plan({"steps": steps}, {})

    first, second = (issue.message for issue in reading.issues)
    assert first.endswith("it is the first step, so there is no earlier one to name")
    assert second.endswith("name an earlier step; did you mean {step_0_result}?")
