"""Constraints of a step: those of the goal's that its model is told."""

from collections.abc import Callable
from typing import Any

from planner_executor.graph.plan.effect import effect_digest
from planner_executor.graph.plan.schema import Step
from planner_executor.graph.testing import asked, on_thread

Build = Callable[..., Any]
THINKS = {"id": "a", "objective": "think", "constraints": ["in German"]}
GOAL = {"goal": "g", "constraints": ["in German", "under 100 words"]}
TITLE = "Constraints of the goal that the model of a step is not told:"


def test_what_a_step_leaves_out_of_the_constraints_stands_in_the_review(build: Build) -> None:
    shown = asked(build({"steps": [THINKS]}).invoke(GOAL, on_thread()))["action_requests"][0]["description"]

    assert "- a: under 100 words" in shown[shown.index(TITLE) :] and "a: in German" not in shown


def test_of_a_step_that_leaves_nothing_out_the_review_says_nothing(build: Build) -> None:
    whole = {**THINKS, "constraints": [*reversed(GOAL["constraints"])]}

    shown = asked(build({"steps": [whole]}).invoke(GOAL, on_thread()))["action_requests"][0]["description"]

    assert TITLE not in shown


def test_a_constraint_that_the_goal_does_not_have_is_a_fault_that_names_its_own(build: Build) -> None:
    graph = build({"steps": [{**THINKS, "constraints": ["in german"]}]}, {"steps": [THINKS]})

    graph.invoke(GOAL, on_thread())

    told = str(graph.model.prompts[1][-1].content)
    assert "a.constraints: 'in german' is no constraint of the goal; it has 'in German', 'under 100 words'" in told


def test_a_model_that_is_told_less_has_another_effect() -> None:
    acts = Step(id="a", objective="o", tools=("send",))

    assert effect_digest(acts, "send") != effect_digest(acts.model_copy(update={"constraints": ()}), "send")
