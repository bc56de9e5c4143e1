"""Where the graph goes next: pure functions of the state.

A client may write any state after any node. What no node leaves behind goes to review, which knows the ledger: it shows
what is to be decided, or what the run came to.
"""

from typing import Literal

from graph.route import route_of
from graph.state import State, is_proven

END: Literal["__end__"] = "__end__"


def after_planner(state: State) -> Literal["review", "__end__"]:
    """A plan is reviewed; a direct answer or a failure to plan is the end."""
    return END if _is_end(state) else "review"


def after_review(state: State) -> Literal["executor", "planner", "review", "__end__"]:
    """An approved plan runs, feedback is planned with, a rejection is the end."""
    route = route_of(state)
    if route == "execute":
        return "executor"
    if route in ("plan", "announce"):
        return "planner"
    return END if _is_end(state) else "review"


def after_executor(state: State) -> Literal["replanner", "review", "__end__"]:
    """A person is needed, or a revision, or it is the end."""
    if route_of(state) in ("revise", "plan"):  # before the key both were one
        return "replanner"
    return END if _is_end(state) else "review"


def after_replanner(state: State) -> Literal["review", "__end__"]:
    """A revision is reviewed; without one it is the end."""
    return END if _is_end(state) else "review"


def _is_end(state: State) -> bool:
    return route_of(state) == "end" and is_proven(state)
