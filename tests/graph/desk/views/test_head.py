"""The head of a review: what it does, takes and costs, and a button for each answer."""

from typing import Any

import pytest

from planner_executor.graph.desk.views.head import CHIPS, Head, answers_of, head_of
from planner_executor.graph.review.content import ReviewContent
from planner_executor.graph.testing import step

PAY = {"name": "pay", "effect": "external", "reversible": False}


def head(steps: int = 1, people: Any = None, work: Any = None) -> Head:
    names = [f"s{n}" for n in range(steps)]
    told = [{"id": name, "status": "pending", "done_by": "tool", "acts": True} for name in names]
    plan = {"name": "run_plan", "revision": 1, "digest": "d", "steps": told, "tools": [{**PAY, "steps": names}]}
    budget = {"name": "raise_budget", "limit": "steps"}
    review = {"version": 1, "goal": "g", "actions": [{**plan, "work": work or {}}, budget], "people": people}
    actions = [{"args": {"plan": {"steps": [step(name, "pay") for name in names]}}}, {"args": {}}]
    return head_of(ReviewContent.model_validate(review), actions)


@pytest.mark.parametrize(("steps", "chips", "more"), [(1, 1, 0), (CHIPS, 8, 0), (CHIPS + 2, 8, 2)])
def test_of_many_effects_the_first_are_shown_and_the_others_counted(steps: int, chips: int, more: int) -> None:
    found = head(steps)

    assert (len(found.chips), found.more) == (chips, more) and found.chips[0].effect == "external"
    assert (found.takes, found.deciders, found.until) == ("", [], None)


@pytest.mark.parametrize(
    ("work", "takes"),
    [
        ({"tool_calls": 1}, "At most 1 tool call."),
        (
            {"tool_calls": 2, "takes": {"unknown": ["pay"]}},
            "At most 2 tool calls. No estimate yet: pay has not run here before.",
        ),
        ({"takes": {"seconds": {"low": 2.0}}}, "Estimate, from earlier runs of these steps: at least 2 seconds."),
    ],
)  # fmt: skip
def test_it_says_how_many_calls_a_plan_takes_and_how_long(work: Any, takes: str) -> None:
    assert head(work=work).takes == takes


def test_it_says_who_decides_and_until_when() -> None:
    found = head(people={"rules": [{"names": ["ann"]}, {"roles": ["cfo"]}], "until": 9.5})

    assert (found.deciders, found.until) == (["ann", "the role cfo"], 9.5)


REFUSE = ("refuse", "Do not make it", False)
FINISH = ("finish", "Finish with what there is", False)
PLAN_AGAIN, END = ("feedback", "Plan again", False), ("stop", "End the run", False)
APPROVE = {"can_approve": True}


@pytest.mark.parametrize(
    ("names", "more", "first"),
    [
        (["run_plan"], APPROVE, [("approve", "Approve and run", True)]),
        (["run_plan", "run_step"], APPROVE, [("approve", "Approve and run", True)]),
        (["run_step", "run_step"], APPROVE, [("approve", "Make these calls", True)]),
        (["run_step"], {"is_gate": True, **APPROVE}, [("approve", "Open the gate", True)]),
        (["run_plan", "answer_question"], APPROVE, [("approve", "Approve and answer", True)]),
        (["run_step"], {"is_call": True, **APPROVE}, [("approve", "Make this call", True), REFUSE]),
        (["settle_effect"], {}, [("happened", "It happened", False), ("not_happened", "Nothing happened", False)]),
        (["settle_effect", "settle_effect"], {}, [("answer", "Decide", True)]),
        (["run_plan"], {}, []),
        (["raise_budget"], {}, [("answer", "Go on with the new limit", True), FINISH]),
        (["answer_question"], {}, [("answer", "Answer", True)]),
        (["answer_question", "raise_budget"], {}, [("answer", "Decide", True), FINISH]),
    ],
)  # fmt: skip
def test_each_request_has_a_button_for_each_answer(names: list[str], more: Any, first: list[Any]) -> None:
    flags = {"is_gate": False, "is_call": False, "can_approve": False, **more}

    found = [(one.decision, one.words, one.is_primary) for one in answers_of(names, **flags)]

    assert found == [*first, PLAN_AGAIN, END]
