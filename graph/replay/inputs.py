"""The inputs of a recorded run: the goal, a plan brought by the caller, and people's decisions."""

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.types import Command

from planner_executor.graph.caller import NO_CHANGES, RetryChanges
from planner_executor.graph.record.events import (
    CallInherited,
    Configured,
    Content,
    Decided,
    Draft,
    Event,
    Inherited,
    PlanRefused,
    PlanRevised,
    ResultSupplied,
    ReviewRequested,
    RunForked,
    RunReopened,
    RunStarted,
    Steered,
    Voted,
)
from planner_executor.graph.record.person import Approver
from planner_executor.graph.review.decision import KEYS
from planner_executor.graph.review.request_json import DecisionType

Artifacts = Mapping[str, str]
NOT_ASKED: Mapping[str, Any] = {"action_requests": ()}
"""The request used if none is open."""


def first_input(events: Sequence[Event], artifacts: Artifacts) -> dict[str, Any]:
    """Return the input that a run was started with."""
    started = events[0].data
    assert isinstance(started, RunStarted)
    given: dict[str, Any] = {"constraints": list(started.constraints)}
    if started.tags:
        given["tags"] = list(started.tags)
    if started.history or started.attached is not None:
        given["messages"] = [*map(_message, started.history), _goal(started, artifacts)]
    else:
        given["goal"] = started.goal
    for event in events:
        data = event.data_if_known
        # The plan of the caller, whether it was refused or came into force, is the first that is on record.
        if isinstance(data, PlanRefused) and data.brought is not None:
            return {**given, "plan": held(data.brought, artifacts)}
        if isinstance(data, PlanRevised):
            return {**given, "plan": data.plan} if data.author == "caller" else given
    return given


def _goal(started: RunStarted, artifacts: Artifacts) -> HumanMessage:
    if started.attached is None:
        return HumanMessage(started.goal)
    return HumanMessage([{"type": "text", "text": started.goal}, *held(started.attached, artifacts)])


def inherited_on_record(events: Sequence[Event]) -> tuple[Draft, ...]:
    """Return the events that a run inherited as a fork, with the results that its user set; they follow the first."""
    if len(events) < 2 or events[1].kind != RunForked.kind:
        return ()
    kinds = RunForked | Inherited | CallInherited | ResultSupplied
    begun = itertools.takewhile(lambda event: isinstance(event.data_if_known, kinds), events[1:])
    return tuple(Draft(event.data, event.step) for event in begun)


def state_of_fork(events: Sequence[Event], artifacts: Artifacts) -> dict[str, Any] | None:
    """Return the initial state of a run that began as a fork, or None if it began with the planner."""
    following = next(
        (event.data_if_known for event in events[1:] if not isinstance(event.data_if_known, Configured)), None
    )
    if not isinstance(following, PlanRevised) or following.author != "state":
        return None
    started = events[0].data
    assert isinstance(started, RunStarted)
    return {**first_input(events, artifacts), "goal": started.goal, "status": "waiting", "plan": following.plan}


def plan_in_state(event: Event) -> Any:
    """Return the plan that was put into the state from outside, according to this event; None if there was none."""
    data = event.data_if_known
    if isinstance(data, PlanRevised):
        return data.plan if data.author == "state" else None
    actions = data.actions if isinstance(data, ReviewRequested) else ()
    return next((action["args"]["plan"] for action in actions if action["name"] == "run_plan"), None)


@dataclass(frozen=True)
class GraphInput:
    """One input of the graph; `unseen` marks a decision made in advance, without seeing the request.

    `changes` come with a retry, `by` is its author.
    """

    value: Any = None
    unseen: bool = False
    changes: RetryChanges = NO_CHANGES
    by: Approver | None = None

    @classmethod
    def answer(cls, value: Any, unseen: bool) -> "GraphInput":
        """Return an answer to a request."""
        return cls(Command(resume=value), unseen)

    @classmethod
    def message(cls, words: str) -> "GraphInput":
        """Return a message in the chat."""
        return cls({"messages": [HumanMessage(words)]})


def retry_on_record(reopened: RunReopened, following: Sequence[Event], artifacts: Artifacts) -> GraphInput:
    """Return the input of a retry, with the changes that came with it.

    Args:
        reopened: The event on record.
        following: The events after it.
        artifacts: The recorded artifacts by id.
    """
    given: dict[str, Any] = {"operation": "retry"}
    limits = reopened.budget.to_json() if reopened.budget is not None else {}
    feedback: str | None = None
    found = (event.data_if_known for event in following)
    data = next((one for one in found if not isinstance(one, Configured)), None)
    # One with a checkpoint was written by the retry itself; any other came as a message.
    if isinstance(data, Steered) and data.checkpoint is not None:
        feedback = data.feedback
    elif isinstance(data, PlanRevised) and data.author in ("state", "caller"):
        given["plan"] = data.plan
    elif isinstance(data, PlanRefused) and data.brought is not None:
        given["plan"] = held(data.brought, artifacts)
    by = Approver.of_label(reopened.approver, reopened.roles)
    return GraphInput(given, changes=RetryChanges(limits, feedback), by=by)


def answer_on_record(coming: Sequence[Event], request: Mapping[str, Any], artifacts: Artifacts) -> GraphInput | None:
    """Return the recorded answer to a request, or None if there was none.

    Args:
        coming: The events on record from here on.
        request: The open request of the replay.
        artifacts: Artifacts of the record.
    """
    plan = None
    # Before a decision comes a changed configuration or an edited plan at most.
    for event in coming[:3]:
        data = event.data_if_known
        if isinstance(data, ReviewRequested) and data.answer is not None:
            by = Approver.of_label(data.approver, data.roles) if data.approver is not None else None
            return replace(GraphInput.answer(held(data.answer, artifacts), bool(data.unseen)), by=by)
        if isinstance(data, Voted) or (isinstance(data, Decided) and data.by in ("person", "unseen")):
            is_unseen = isinstance(data, Decided) and data.by == "unseen"
            given = GraphInput.answer(_decisions(data.decisions, request, plan), is_unseen)
            return replace(given, by=Approver.of_label(data.approver, data.roles))
        if isinstance(data, PlanRevised) and data.author == "person":
            plan = data.plan
        elif not isinstance(data, Configured):
            break
    return None


def held(content: Content, artifacts: Artifacts) -> Any:
    """Return a value, wherever it is kept."""
    return json.loads(artifacts[content.artifact["id"]]) if content.artifact is not None else content.value


def _decisions(made: Sequence[Mapping[str, Any]], request: Mapping[str, Any], plan: Any) -> dict[str, Any]:
    actions = request["action_requests"]
    return {"decisions": [_decision(one, action, plan) for one, action in zip(made, actions, strict=False)]}


def _decision(made: Mapping[str, Any], action: Mapping[str, Any], plan: Any) -> dict[str, Any]:
    kind: DecisionType = made["type"]
    if kind != "edit":
        return {name: value for name, value in made.items() if name in KEYS[kind]}
    args = dict(made.get("args") or {})
    if action["name"] == "run_plan":
        # The decision on record leaves the edited plan out: it is there as a revision.
        args["plan"] = plan or action["args"]["plan"]
    why = {"reason": made["reason"]} if "reason" in made else {}
    return {"type": "edit", "edited_action": {"name": action["name"], "args": args}, **why}


def _message(entry: Mapping[str, str]) -> AnyMessage:
    if "user" in entry:
        return HumanMessage(entry["user"])
    return AIMessage(entry["untrusted_data"].removeprefix("<data>\n").removesuffix("\n</data>"))
