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


def test_where_nothing_is_close_the_steps_are_listed() -> None:
    assert STEPS.hint_for("weather", "step_2") == "the steps are step_1, step_2, step_3"


def test_a_step_counted_from_zero_gets_its_answer_in_validation() -> None:
    steps = [{"id": n, "objective": "o", "args": {"text": f"{{step_{n}_result}}"}} for n in (0, 1)]

    reading = read_plan({"steps": steps}, {})

    first, second = (issue.message for issue in reading.issues)
    assert first.endswith("it is the first step, so there is no earlier one to name")
    assert second.endswith("name an earlier step; did you mean {step_0_result}?")
