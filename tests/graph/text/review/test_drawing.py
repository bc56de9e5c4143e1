"""The drawing of a plan in a review: as wide and as long as there is room for."""

import pytest

from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.testing import step
from planner_executor.graph.text.review.drawing import fitted, plan_data, plan_drawing, settled
from planner_executor.graph.text.review.frame import Data, Prose
from planner_executor.graph.text.review.plan import plan_message

LONG = "a_name_of_23_characters"
FORK = Plan.model_validate(
    {
        "steps": [
            step("a", "look"),
            step(LONG, "look", after=["a"], at="x" * 60),
            step("c", "look", after=["a"]),
            step("d", "look", after=[LONG, "c"]),
            step("e", "look", after=["d"]),
            step("f", "look", after=["e"]),
        ],
        "answer": "{f_result}",
    }
)


def drawn(most: int) -> list[str]:
    return plan_drawing(FORK, {"a": "succeeded"}, 40, most).split("\n")


def plan_of(steps: int) -> Plan:
    return Plan.model_validate({"steps": [step(f"s{n}", "look") for n in range(steps)]})


def test_a_drawing_that_does_not_fit_has_a_line_for_each_step() -> None:
    whole = drawn(100)

    assert len(whole) > 7 and drawn(len(whole)) == whole and whole[0].startswith("✓")
    assert drawn(7) == drawn(len(whole) - 1) == [
        "✓ a  do a: look",
        "○ a_name_of_…haracters  do a_nam…xxxxxx\"",
        "○ c  do c: look",
        "○ d  do d: look",
        "○ e  do e: look",
        "○ f  do f: look",
        "answer: {f_result}",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("most", "begin", "told", "end"),
    [
        (6, 4, "... 1 more line; the whole plan is in the request", 2),
        (4, 3, "... 3 more lines; the whole plan is in the request", 1),
    ],
)
def test_of_lines_that_do_not_fit_the_middle_is_left_out(most: int, begin: int, told: str, end: int) -> None:
    lines = drawn(7)

    assert drawn(most) == [*lines[:begin], told, *lines[-end:]]


def test_a_plan_with_as_many_steps_as_lines_is_drawn_without_statuses_if_it_has_none() -> None:
    assert plan_drawing(plan_of(2), {}, 40, 2).split("\n") == ["●  s0  do s0  look", "●  s1  do s1  look"]


def test_a_plan_without_an_answer_ends_with_its_last_step() -> None:
    assert plan_drawing(plan_of(2), {}, 40, 1).split("\n") == [
        "○ s0  do s0: look",
        "... 1 more line; the whole plan is in the request",
    ]


def test_a_request_has_room_for_300_lines_and_a_message_for_100() -> None:
    assert not any("more line" in line for line in plan_data(plan_of(300), {}).lines)
    assert "... 1 more line; the whole plan is in the request" in plan_data(plan_of(301), {}).lines
    assert "more line" not in plan_message(plan_of(100), 1, {})
    assert "... 1 more line; the whole plan is in the state" in plan_message(plan_of(101), 1, {})


RESULTS = {"a": StepResult("succeeded"), "c": StepResult("failed"), "d": StepResult("skipped")}


def test_steps_that_succeeded_or_are_skipped_are_settled() -> None:
    assert settled(FORK, RESULTS) == {"a": "succeeded", "d": "skipped", "e": "skipped", "f": "skipped"}


def test_a_description_is_laid_out_for_another_width_with_its_plan_drawn_anew() -> None:
    text = "Plan:\n\n```plan\nold\n```\n\n```text\n- " + "x " * 20 + "\n```"

    prose, plan, data = fitted(text, FORK, RESULTS, 60, 40)
    without = list(fitted(text, None, {}, 60, 40))

    assert prose == without[0] == Prose("Plan:") and data == without[2]
    assert isinstance(plan, Data) and "\n".join(plan.lines) == plan_drawing(FORK, settled(FORK, RESULTS), 40)
    assert without[1] == Data(("old",), "plan")
