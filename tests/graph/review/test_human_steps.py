"""Questions and gates of a plan: when they are due, and which answer fits."""

from typing import Any

import pytest

from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.record.steps import Steps
from planner_executor.graph.review.human_steps import fit_answer, open_questions

DONE, FAILED = StepResult("succeeded", 1), StepResult("failed", error="down")
READ = Step(id="read", objective="o", tool="read")
ASK = Step(id="ask", objective="o", ask="Which?", depends_on=("read",))
GATE = Step(id="gate", objective="o", gate="Look at it", depends_on=("read",))
PLAN = Plan(steps=(READ, ASK, GATE))


def due(plan: Plan, **results: StepResult) -> list[str]:
    return [step.id for step in open_questions(plan, RunState(steps=Steps(results)))]


def test_a_question_and_a_gate_are_due_once_all_they_wait_for_has_succeeded() -> None:
    assert due(PLAN) == due(PLAN, read=FAILED) == []
    assert due(PLAN, read=DONE) == ["ask", "gate"]


def test_what_a_person_has_answered_is_not_asked_again() -> None:
    assert due(PLAN, read=DONE, ask=DONE) == ["gate"]
    assert due(PLAN, read=DONE, ask=DONE, gate=DONE) == []


def test_a_step_that_no_person_does_is_never_asked() -> None:
    assert due(Plan(steps=(READ,))) == []


@pytest.mark.parametrize(
    ("given", "schema", "answer"),
    [
        (5, {"type": "integer"}, 5),
        ("5", {"type": "string"}, "5"),
        (5, {"type": "string"}, "5"),
        ({"a": 1}, {"type": "string"}, '{"a":1}'),
        ("anything", None, "anything"),
        ("anything", True, "anything"),
    ],
)
def test_an_answer_that_fits_is_taken_as_its_schema_wants_it(given: Any, schema: Any, answer: Any) -> None:
    assert fit_answer(given, schema) == (answer, None)


@pytest.mark.parametrize("given", ["five", 5.5, None])
def test_an_answer_that_does_not_fit_comes_back_with_the_first_fault(given: Any) -> None:
    answer, fault = fit_answer(given, {"type": "integer"})

    assert answer is given and fault is not None and "integer" in fault


def test_text_that_does_not_fit_gets_no_quotes_to_fit() -> None:
    answer, fault = fit_answer("yes", {"type": "string", "minLength": 5})

    assert (answer, fault is None) == ("yes", False)
