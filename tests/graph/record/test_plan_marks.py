"""What of a plan carries the mark of a model that had read, or looked at, untrusted data."""

from typing import Any

import pytest

from planner_executor.graph.plan.schema import Step
from planner_executor.graph.record.assignment import Assignment
from planner_executor.graph.record.events import PlanRevised, RunStarted
from planner_executor.graph.record.plan_marks import plan_marks
from planner_executor.graph.record.plan_state import PlanState
from planner_executor.graph.record.run_state import RunState

WORDS = Assignment(
    RunStarted(goal="Send 40 euros to a@b.example, c@d.example and Ann Lee: True or None."),
    constraints=("never on 2026-12-24",),
)


def marks(args: dict[str, Any], *, by_look: bool = True, tainted: bool = True, **state: Any) -> set[str]:
    step = Step(id="s", objective="o", tool="send", args=args)
    revised = PlanRevised(
        revision=1,
        plan={"steps": [step.to_json()]},
        digest="d",
        author="planner",
        tainted=("s",) * tainted,
        by_look=by_look,
    )
    plan_state = PlanState(**state)
    plan_state.plan_revised(revised)
    return set(plan_marks(RunState(WORDS, plan_state), step))


@pytest.mark.parametrize(
    ("value", "is_marked"),
    [
        ("a@b.example", False),
        ("b.example", True),
        ("a@b", True),
        (40, False),
        (4, True),
        ("Ann Lee", False),
        ("Ann", False),
        ("2026-12-24", False),
        ("12-24", True),
        (["a@b.example", "c@d.example"], False),
        (["a@b.example", "e@f.example"], True),
        ([], True),
        ("", True),
        (True, True),
        (None, True),
        ({"to": "a@b.example"}, True),
        ("{x_result.to}", False),
        (["{x_result}", "{y_result}"], False),
        ("to {x_result.to}", True),
        (["{x_result}", "Bob"], True),
        ([5, "{x_result}"], True),
        ({"to": "{x_result}"}, False),
        ({"to": "{x_result}", "cc": "Bob"}, True),
    ],
    ids=str,
)
def test_after_a_look_what_is_a_reference_or_in_the_users_words_has_no_mark(value: Any, is_marked: bool) -> None:
    assert ("to" in marks({"to": value})) == is_marked


def test_what_people_approved_for_that_tool_and_argument_has_no_mark() -> None:
    plan = {"steps": [{"id": "o", "objective": "o", "tool": "send", "args": {"to": "x", "cc": "y"}}]}
    other = {"steps": [{"id": "o", "objective": "o", "tool": "pay", "args": {"to": "z"}}]}
    approved = {"approved_plans": {"p": plan, "q": other}, "approved_by_people": {"p", "q"}}

    assert marks({"to": "x", "cc": "x", "bcc": "z"}, **approved) == {"cc", "bcc"}
    assert marks({"to": "z"}, **approved) == {"to"}
    assert marks({"to": "x"}, approved_plans={"p": plan}) == {"to"}, "approved by the policy alone"


def test_after_steps_have_read_untrusted_data_everything_has_the_mark() -> None:
    assert marks({"to": "a@b.example", "n": "{x_result}"}, by_look=False) == {"to", "n"}


def test_a_step_that_is_not_tainted_has_none() -> None:
    assert marks({"to": "x"}, tainted=False) == set()
