"""What the world outside gave a run: the goal, the plan that was brought, and the answers of people."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.types import Command

from graph.record.artifacts import held_artifact
from graph.record.events import Event

Artifacts = Mapping[str, str]
NOT_ASKED: Mapping[str, Any] = {"action_requests": ()}
"""What stands in place of a request where none is open."""


def first_input(events: Sequence[Event], artifacts: Artifacts) -> dict[str, Any]:
    """Return the input that a run was started with."""
    started = events[0].payload
    given: dict[str, Any] = {"constraints": list(started["constraints"])}
    if started.get("tags"):
        given["tags"] = list(started["tags"])
    if started.get("history"):
        given["messages"] = [*map(_message, started["history"]), HumanMessage(started["goal"])]
    else:
        given["goal"] = started["goal"]
    for event in events:
        if event.kind == "plan_refused" and "brought" in event.payload:
            return {**given, "plan": held(event.payload, "brought", artifacts)}
        if event.kind == "plan_revised":
            return {**given, "plan": event.payload["plan"]} if event.payload["author"] == "caller" else given
    return given


def state_of_fork(events: Sequence[Event], artifacts: Artifacts) -> dict[str, Any] | None:
    """Return the state that a run went on with which began as a fork, None where it began with its planner."""
    following = next((event for event in events[1:] if event.kind != "configured"), None)
    if following is None or following.kind != "plan_revised" or following.payload["author"] != "state":
        return None
    goal = {"goal": events[0].payload["goal"], "status": "waiting"}
    return {**first_input(events, artifacts), **goal, "plan": following.payload["plan"]}


def plan_in_state(event: Event) -> Any:
    """Return the plan that somebody put into the state, as this event tells; None where nobody did."""
    if event.kind == "plan_revised" and event.payload["author"] == "state":
        return event.payload["plan"]
    actions = event.payload.get("actions", ()) if event.kind == "review_requested" else ()
    return next((action["args"]["plan"] for action in actions if action["name"] == "run_plan"), None)


@dataclass(frozen=True)
class Given:
    """What the graph is given; `unseen` says that it was decided beforehand, with nobody looking.

    `checkpoint` is where it goes on, if not where it stopped.
    """

    value: Any = None
    unseen: bool = False
    checkpoint: str | None = None

    @classmethod
    def answer(cls, value: Any, unseen: bool) -> "Given":
        """Return an answer to a request."""
        return cls(Command(resume=value), unseen)

    @classmethod
    def message(cls, words: str) -> "Given":
        """Return a message in the chat."""
        return cls({"messages": [HumanMessage(words)]})


def answer_on_record(coming: Sequence[Event], request: Mapping[str, Any], artifacts: Artifacts) -> Given | None:
    """Return what a person answered to a request, None where nobody did.

    Args:
        coming: The events on record from here on.
        request: The open request of the replay.
        artifacts: Those of the record.
    """
    plan = None
    for event in coming[:3]:
        if event.kind == "review_requested" and "answer" in event.payload:
            return Given.answer(held(event.payload, "answer", artifacts), event.payload["unseen"])
        if event.kind == "plan_revised" and event.payload["author"] == "person":
            plan = event.payload["plan"]
        elif event.kind == "decided" and event.payload["by"] != "policy":
            decisions = _decisions(event.payload["decisions"], request, plan)
            return Given.answer(decisions, event.payload["by"] == "unseen")
        elif event.kind != "configured":
            break
    return None


def held(payload: Mapping[str, Any], field: str, artifacts: Artifacts) -> Any:
    """Return the value in a field, wherever it is kept."""
    artifact = held_artifact(payload, field)
    return json.loads(artifacts[artifact["id"]]) if artifact else payload[field].get("value")


def _decisions(made: Sequence[Mapping[str, Any]], request: Mapping[str, Any], plan: Any) -> dict[str, Any]:
    actions = request["action_requests"]
    return {"decisions": [_decision(one, action, plan) for one, action in zip(made, actions, strict=False)]}


def _decision(made: Mapping[str, Any], action: Mapping[str, Any], plan: Any) -> dict[str, Any]:
    if made["type"] != "edit":
        return {name: made[name] for name in ("type", "message", "final") if name in made}
    args = dict(made.get("args") or {})
    if action["name"] == "run_plan":
        args["plan"] = plan or action["args"]["plan"]
    return {"type": "edit", "edited_action": {"name": action["name"], "args": args}}


def _message(told: Mapping[str, str]) -> AnyMessage:
    if "user" in told:
        return HumanMessage(told["user"])
    return AIMessage(told["untrusted_data"].removeprefix("<data>\n").removesuffix("\n</data>"))
