"""Where the graph goes next: pure functions of the state."""

from typing import Literal

from graph.state import State

END: Literal["__end__"] = "__end__"


def after_planner(state: State) -> Literal["review", "__end__"]:
    """A plan is reviewed; a direct answer or a failure to plan is the end."""
    return "review" if state.get("status") == "waiting" else END


def after_review(state: State) -> Literal["executor", "planner", "__end__"]:
    """An approved plan runs, feedback is planned with, a rejection is the end."""
    status = state.get("status")
    if status == "running":
        return "executor"
    return "planner" if status == "planning" else END


def after_executor(state: State) -> Literal["replanner", "review", "__end__"]:
    """A person is needed, or a revision, or it is the end."""
    status = state.get("status")
    if status == "waiting":
        return "review"
    return "replanner" if status == "planning" else END


def after_replanner(state: State) -> Literal["review", "__end__"]:
    """A revision is reviewed; without one it is the end."""
    return "review" if state.get("status") == "waiting" else END
