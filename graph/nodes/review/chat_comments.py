"""Comments on steps that a chat collects, in messages `comment STEP: TEXT`; the next rejection takes them along.

They are read from the chat when there is a rejection, and stand in its event.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage

from planner_executor.graph.errors import InputError
from planner_executor.graph.nodes.run.context import RunContext
from planner_executor.graph.plain_text.markdown import code
from planner_executor.graph.plain_text.sanitize import escaped
from planner_executor.graph.policy.approvers import NO_APPROVERS
from planner_executor.graph.record.comment import Comment
from planner_executor.graph.review.comments import read_comments, split_comments
from planner_executor.graph.review.request import ReviewRequest
from planner_executor.graph.state import REVIEW, StateUpdate, last_words

NAMELESS = "the policy says who decides, and a message names nobody: write comments beside the rejection"


def comments_in_words(state: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the comments that the user's last message consists of, none if it says anything else."""
    return _alone(last_words(state.get("messages") or ()) or "")


def take_comments(run: RunContext, state: Mapping[str, Any]) -> tuple[Comment, ...]:
    """Return the comments of the user's last message about the plan that waits.

    Raises:
        InputError: A step is unknown, or the policy says who decides.
    """
    if not (said := comments_in_words(state)):
        return ()
    if run.terms.policy.approvers != NO_APPROVERS:
        raise InputError("comment", NAMELESS)
    plan = run.recorded_plan()
    try:
        return read_comments(said, [*plan.by_id] if plan is not None else [])
    except ValueError as fault:
        raise InputError("comment", str(fault).removeprefix("comments: ")) from fault


def with_collected(run: RunContext, comments: Sequence[Comment], update: StateUpdate) -> StateUpdate:
    """Return the state update with what was collected, before any other message."""
    if not comments:
        return update
    told = "; ".join(f"{one.step}: {code(escaped(one.text))}" for one in comments)
    said = f"Kept for your next rejection of this plan: {told}."
    message = AIMessage(said, id=f"{run.record.id}-collected-{run.checkpoint}", name=REVIEW)
    return {**update, "messages": [message, *update.get("messages", ())]}


def with_comments_of_chat(run: RunContext, request: ReviewRequest, state: Mapping[str, Any]) -> ReviewRequest:
    """Return a request whose rejection takes along what the chat has collected about its plan."""
    plan = run.recorded_plan()
    if run.terms.policy.approvers != NO_APPROVERS or plan is None:
        return request
    found = [*_collected(state.get("messages") or (), f"{run.record.id}-decided-")][::-1]
    said = read_comments([one for one in found if one["step"] in plan.by_id and one["text"]], [*plan.by_id])
    actions = tuple(replace(one, collected=said) if one.name == "run_plan" else one for one in request.actions)
    return replace(request, actions=actions)


def _collected(messages: Sequence[BaseMessage], decided: str) -> Iterator[dict[str, str]]:
    """Yield the comments since the last decision and the last other message of the user, the latest first."""
    for message in reversed(messages):
        if message.type == "human":
            if not (said := _alone(str(message.text))):
                return
            yield from reversed(said)
        elif str(message.id).startswith(decided):
            return


def _alone(words: str) -> list[dict[str, str]]:
    rest, comments = split_comments(words)
    return comments if not rest else []
