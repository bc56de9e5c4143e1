"""The planner's input: a goal, a given plan, a request to continue, or a changed constraint."""

from collections.abc import Mapping
from typing import Any, Literal, get_args

from langchain_core.messages import HumanMessage

from planner_executor.graph.errors import InputError
from planner_executor.graph.plain_text.sanitize import check_texts
from planner_executor.graph.plan.canonical import digest, digest_if_json
from planner_executor.graph.plan.depth import parse_json_or_text
from planner_executor.graph.plan.unique_keys import unique_keys
from planner_executor.graph.record.goal import Goal
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.state import State, goal_of, last_words, place_of_goal, stated_goal

Operation = Literal["continue", "retry"]
CONTINUE = ("continue", "resume")
RETRY = "retry"
STEER = "steer:"
"""Prefix of a chat message that adds a constraint to the current run."""


def goal_to_begin(state: State, thread: str) -> Goal:
    """Return the goal of a new run; a copied thread that is asked to continue keeps its goal."""
    run, copied = state.get("run"), stated_goal(state)
    is_copy = isinstance(run, dict) and run.get("thread") not in (None, thread)
    return copied if is_copy and copied.goal and wants_to_go_on(state) else goal_of(state)


def wants_to_go_on(state: State) -> bool:
    """Whether the user's last message asks to continue a run."""
    return (last_words(state.get("messages") or ()) or "").lower() in CONTINUE


def operation_of(state: State) -> Operation | None:
    """Return the operation in the input, None if it starts a run or is a chat.

    Raises:
        InputError: There is no such operation.
    """
    wanted = state.get("operation")
    if wanted in (None, ""):
        return None
    if wanted not in get_args(Operation):
        raise InputError("operation", f"there is no operation {wanted!r}; give continue or retry")
    return wanted


def wants_to_retry(state: State) -> bool:
    """Whether the input, or the user's last message, asks to retry a run that has ended."""
    return operation_of(state) == RETRY or (last_words(state.get("messages") or ()) or "").lower() == RETRY


def is_same_input(state: State, record: RunState) -> bool:
    """Whether the input of a repeated invocation is that of the run.

    One invocation of a server may invoke this graph with several goals, as a part of another graph.
    """
    if operation_of(state) is not None or wants_to_retry(state) or wants_to_go_on(state):
        return True
    try:
        return goal_of(state).goal == record.assignment.started.goal
    except InputError:  # a fork takes its goal over
        return True


def check_named(state: State, run: str, thread: str) -> None:
    """Check that the operation in the input names a thread's latest run, or none.

    Raises:
        InputError: It names another run.
    """
    named = state.get("run")
    asked = named.get("asked") if isinstance(named, dict) else None
    if asked not in (None, "", run, thread):
        raise InputError("run", f"{asked!r} is not the latest run of this thread; that is {run}")


def steering(state: State) -> str | None:
    """Return the constraint that the user's last message adds to the current run, None if it adds none.

    Raises:
        InputError: No constraint follows, or it cannot be kept.
    """
    words = last_words(state.get("messages") or ()) or ""
    if not words.lower().startswith(STEER):
        return None
    constraint = words[len(STEER) :].strip()
    if not constraint:
        raise InputError("steer", f"say what to add, such as `{STEER.capitalize()} use no web search`")
    check_texts("steer", constraint)
    return constraint


def goal_stated(state: State, record: RunState) -> list[HumanMessage]:
    """Return the message that states a goal given as `goal`, none in a chat: clients show it as the thread's title."""
    said, goal = state.get("messages") or (), record.assignment.started.goal
    if last_words(said) is not None or place_of_goal(said, goal) is not None:
        return []
    return [HumanMessage(goal, id=f"{record.id}-goal")]


def brought_plan(state: Mapping[str, Any], goal: Goal) -> Any:
    """Return the plan in the input, None if the plan in the state is that of the last run."""
    raw = plan_from_form(state.get("plan"))
    if raw is None or state.get("digest") is None:
        return raw
    same = digest_if_json(raw) == state["digest"]
    return raw if not same or state.get("brought") == digest([goal.goal, state["digest"]]) else None


def plan_from_form(plan: Any) -> Any:
    """Return a plan submitted by a form: blank text is None, and other text is parsed as JSON."""
    if not isinstance(plan, str):
        return plan
    return parse_json_or_text(plan, strict=False, object_pairs_hook=unique_keys) if plan.strip() else None


def steps_in(brought: Any) -> int:
    """Return how many steps a plan may have, or its text, that nobody has checked yet."""
    if isinstance(brought, str):
        return brought.count("{")
    steps = brought.get("steps") if isinstance(brought, dict) else None
    return len(steps) if isinstance(steps, list) else 0
