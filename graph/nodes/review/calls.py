"""Tool calls that carry a review request, so that clients which draw buttons on tool calls draw them (decision 0051).

Such a call is open as long as its request is. Then it is taken off its message, and what a client made up as its result
is removed: the messages of a thread stay valid for models, which want a result after each call.
"""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, BaseMessage, RemoveMessage, ToolCall

from planner_executor.graph.state import CALL, REVIEW, StateUpdate

if TYPE_CHECKING:
    from planner_executor.graph.review.request import ReviewRequest

STILL_OPEN = ("review", "announce")
"""Routes on which the request of the last message stays as it is."""


def calls_for(request: "ReviewRequest") -> list[ToolCall]:
    """Return the tool call that carries a request of one action; none for several, which buttons cannot decide."""
    if len(request.actions) != 1:
        return []
    action = request.actions[0]
    of_step = {"step": action.args["step"]} if "step" in action.args else {}
    again = f":{request.asked_before}" if request.asked_before else ""
    # The same at each checkpoint that shows the request, and another once it is asked again.
    name = sha256(f"{request.run}:{request.subject}{again}".encode()).hexdigest()[:24]
    args = {"run": request.run, "revision": request.revision, **of_step}
    return [ToolCall(name=action.name, args=args, id=f"{CALL}{name}", type="tool_call")]


def with_settled_calls(state: Mapping[str, Any], update: StateUpdate) -> StateUpdate:
    """Return a node's update, which also takes off the calls of requests that are open no longer."""
    messages: Sequence[BaseMessage] = state.get("messages") or ()
    is_open = update.get("route") in STILL_OPEN and not update.get("messages")
    settled = [message for message in (messages[:-1] if is_open else messages) if _carries_call(message)]
    settled += [
        message
        for message in messages
        if message.type == "tool" and str(getattr(message, "tool_call_id", "")).startswith(CALL)
    ]
    if not settled:
        return update
    return {**update, "messages": [*map(_without_call, settled), *update.get("messages", [])]}


def _carries_call(message: BaseMessage) -> bool:
    """Whether a message has calls on behalf of a review, also in the form that older clients read."""
    if not isinstance(message, AIMessage) or message.name != REVIEW:
        return False
    return bool(message.tool_calls or message.invalid_tool_calls or message.additional_kwargs)


def _without_call(message: BaseMessage) -> BaseMessage:
    if message.type == "tool":
        return RemoveMessage(id=str(message.id))
    return AIMessage(message.content, id=message.id, name=REVIEW)
