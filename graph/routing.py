"""The conditional edges of the graph: pure functions of the state.

A client may write any state after any node. A state that no node leaves behind goes to review, which reads the ledger
and shows the open decision or the ending of the run.
"""

from typing import Literal

from graph.route import route_of
from graph.state import State, is_proven

END: Literal["__end__"] = "__end__"


def after_planner(state: State) -> Literal["review", "__end__"]:
    """A plan goes to review; a direct answer or a failure to plan is the end."""
    return END if _is_end(state) else "review"


def after_review(state: State) -> Literal["executor", "planner", "review", "__end__"]:
    """An approved plan goes to the executor, feedback to the planner; a rejection is the end."""
    route = route_of(state)
    if route == "execute":
        return "executor"
    if route in ("plan", "announce"):
        return "planner"
    return END if _is_end(state) else "review"


def after_executor(state: State) -> Literal["replanner", "review", "__end__"]:
    """A request for a person goes to review, one for a revision to the replanner; otherwise it is the end."""
    if route_of(state) in ("revise", "plan"):  # states of earlier versions have `plan` for both
        return "replanner"
    return END if _is_end(state) else "review"


def after_replanner(state: State) -> Literal["review", "__end__"]:
    """A revision goes to review; without one it is the end."""
    return END if _is_end(state) else "review"


def _is_end(state: State) -> bool:
    return route_of(state) == "end" and is_proven(state)
