"""A review request as JSON: the names in it, and its digests."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import JsonValue

from planner_executor.graph.plan.canonical import digest

ActionName = Literal["run_plan", "run_step", "answer_question", "settle_effect", "raise_budget"]
DecisionType = Literal["approve", "edit", "reject"]
GATE = "gate"
"""Name of a gate in a review, in the place of a tool's name."""
RequestJson = Mapping[str, Any]
"""A review request as JSON, see `graph.review.request.ReviewRequest.to_json`."""
ActionJson = Mapping[str, Any]
ALLOWED: Mapping[ActionName, tuple[DecisionType, ...]] = {
    "run_plan": ("approve", "edit", "reject"),
    "run_step": ("approve", "edit", "reject"),
    "answer_question": ("edit", "reject"),
    "settle_effect": ("edit", "reject"),
    "raise_budget": ("edit", "reject"),
}


def allowed_for(name: ActionName, *, is_gate: bool) -> tuple[DecisionType, ...]:
    """Return the types of decisions about an action; a gate, which no call belongs to, has nothing to edit."""
    return tuple(one for one in ALLOWED[name] if one != "edit" or not is_gate)


def config(name: ActionName, allowed: Sequence[DecisionType]) -> dict[str, Any]:
    """Return what a request says of the decisions about one action, in the shape of LangChain."""
    return {"action_name": name, "allowed_decisions": list(allowed)}


def digest_of_all(request: RequestJson) -> str:
    """Return the digest of all actions, which people see: the plan's own if the plan is the only one, asked about once.

    A decision that names it is not valid for another request of the run, such as the next call or question, even if
    that asks for the same in the same words.
    """
    is_plan = not beside_plans(request["action_requests"]) and not request.get("asked_before")
    return str(request["digest"]) if is_plan else digest_of_request(request)


def digest_of_request(request: RequestJson) -> str:
    """Return the digest that names one request of a run; the plan's would also name a later one about the same plan."""
    return request_digest(request["digest"], request["action_requests"], request.get("asked_before"))


def request_digest(plan: str, actions: Sequence[ActionJson], before: int | None) -> str:
    """Return the digest of one request of a run: of a plan, of actions, and of how many requests came before."""
    return digest([plan, len(actions), beside_plans(actions), *([before] if before else [])])


def beside_plans(actions: Sequence[ActionJson]) -> list[JsonValue]:
    """Return the actions of a request other than a plan, as digests cover them."""
    return [[action["name"], action["args"]] for action in actions if action["name"] != "run_plan"]
