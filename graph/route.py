"""Where a node sends the run next: a key of the state of its own, apart from the words that people read."""

from collections.abc import Mapping
from typing import Any, Literal, get_args

from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.run_status import ENDS

Route = Literal["plan", "revise", "announce", "review", "execute", "end"]
"""What is to be done next.

`announce` goes from review round by the planner, so that what is asked is the chat's last message.
"""
ROUTES: tuple[Route, ...] = get_args(Route)
STATUS: Mapping[Route, str] = {
    "plan": "planning",
    "revise": "planning",
    "announce": "waiting",
    "review": "waiting",
    "execute": "running",
}
"""The run's status on each route but `end`, where it is the status that the run ended with."""
ANNOUNCED = "what is asked is said first"
"""The reason that stood for `announce` in checkpoints without a route."""
_BY_STATUS: Mapping[Any, Route] = {"planning": "plan", "waiting": "review", "running": "execute"}


def named_in_state(run: RunKey, seq: int) -> dict[str, Any]:
    """Return how a state names its run, and the last event of it that the state has seen."""
    return {"thread": run.thread, "n": run.n, "id": run.id, "seq": seq}


def headed(route: Route) -> dict[str, Any]:
    """Return the keys of the state that send the run on, with the status that people see."""
    return {"route": route, **({"status": STATUS[route]} if route in STATUS else {})}


def route_of(state: Mapping[str, Any]) -> Route | None:
    """Return the route that a node left in the state, None for what no node leaves.

    In checkpoints of versions before the key, the status and the reason tell; `plan` and `revise` are one there.
    """
    route = state.get("route")
    if route is not None:
        return next((known for known in ROUTES if known == route), None)
    status = state.get("status")
    if not isinstance(status, str):
        return None
    if status == "planning" and state.get("reason") == ANNOUNCED:
        return "announce"
    return "end" if status in ENDS else _BY_STATUS.get(status)
