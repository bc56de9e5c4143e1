"""What the planner takes from a thread's input."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from planner_executor.graph.errors import InputError
from planner_executor.graph.nodes.planner_input import brought_plan, goal_to_begin, steering, wants_to_go_on
from planner_executor.graph.plan.canonical import digest
from planner_executor.graph.record.goal import Goal

PLAN = {"steps": [], "answer": "5"}
GOAL = Goal("g")


@pytest.mark.parametrize("words", ["continue", "Resume", " continue\n"])
def test_a_last_message_that_says_so_asks_to_go_on(words: str) -> None:
    assert wants_to_go_on({"messages": [HumanMessage(words)]})


@pytest.mark.parametrize("words", ["continue with the report", "go on", ""])
def test_other_messages_do_not_ask_to_go_on(words: str) -> None:
    assert not wants_to_go_on({"messages": [HumanMessage(words)]})


def test_words_of_the_assistant_ask_for_nothing() -> None:
    assert not wants_to_go_on({"messages": [AIMessage("continue")]})


def test_a_message_that_begins_with_steer_is_a_constraint() -> None:
    assert steering({"messages": [HumanMessage("Steer: be brief ")]}) == "be brief"
    assert steering({"messages": [HumanMessage("please steer: left")]}) is None


def test_steering_without_a_constraint_is_refused_and_no_goal() -> None:
    with pytest.raises(InputError, match="say what to add"):
        steering({"messages": [HumanMessage("steer:  ")]})


def test_a_plan_in_the_input_is_brought_and_may_be_text() -> None:
    assert brought_plan({"plan": PLAN}, GOAL) == PLAN
    assert brought_plan({"plan": '{"steps": [], "answer": "5"}'}, GOAL) == PLAN


@pytest.mark.parametrize("blank", [None, "", "  \n"])
def test_a_field_left_blank_brings_no_plan(blank: Any) -> None:
    assert brought_plan({"plan": blank}, GOAL) is None


def test_the_plan_of_the_last_run_is_not_brought_again() -> None:
    assert brought_plan({"plan": PLAN, "digest": digest(PLAN)}, GOAL) is None


def test_another_plan_beside_the_last_runs_digest_is_brought() -> None:
    assert brought_plan({"plan": {**PLAN, "answer": "6"}, "digest": digest(PLAN)}, GOAL) == {**PLAN, "answer": "6"}


def test_a_copied_thread_that_is_asked_to_go_on_has_the_goal_it_was_copied_with() -> None:
    copied: Any = {"goal": "old", "run": {"thread": "first", "seq": 1}, "messages": [HumanMessage("continue")]}

    assert goal_to_begin(copied, "second").goal == "old"
    assert goal_to_begin(copied, "first").goal == "continue"
