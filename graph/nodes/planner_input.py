"""The planner's input: a goal, a given plan, a request to continue, or a changed constraint."""

from collections.abc import Mapping
from typing import Any

from langchain_core.messages import HumanMessage

from graph.plan.canonical import digest
from graph.plan.depth import parse_json_or_text
from graph.plan.unique_keys import unique_keys
from graph.record.goal import Goal
from graph.state import State, goal_of, last_words, place_of_goal, stated_goal

CONTINUE = ("continue", "resume")
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


def steering(state: State) -> str | None:
    """Return the constraint that the user's last message adds to the current run, None if it adds none."""
    words = last_words(state.get("messages") or ()) or ""
    return words[len(STEER) :].strip() or None if words.lower().startswith(STEER) else None


def goal_stated(state: State, run: str, goal: str) -> list[HumanMessage]:
    """Return the message that states a goal given as `goal`, none if the chat has it: clients show it as the title."""
    is_there = place_of_goal(state.get("messages") or (), goal) is not None
    return [] if is_there else [HumanMessage(goal, id=f"{run}-goal")]


def brought_plan(state: Mapping[str, Any], goal: Goal) -> Any:
    """Return the plan in the input, None if the plan in the state is that of the last run."""
    raw = _from_form(state.get("plan"))
    if raw is None or state.get("digest") is None:
        return raw
    try:
        same = digest(raw) == state["digest"]
    except (ValueError, TypeError, RecursionError):
        return raw
    return raw if not same or state.get("brought") == digest([goal.goal, state["digest"]]) else None


def _from_form(plan: Any) -> Any:
    """Return a plan submitted by a form: blank text is None, and other text is parsed as JSON."""
    if not isinstance(plan, str):
        return plan
    return parse_json_or_text(plan, strict=False, object_pairs_hook=unique_keys) if plan.strip() else None
