"""The message that says in the chat what review asks.

A node that interrupts writes nothing to the state, and chat clients hide a request unless the last message is the
assistant's. So the message is left by the node before review; if that one could not know what will be asked (an
answer was turned down, the plan was changed in the state, a fork), review leaves the message itself and goes round by
the planner, which sends it back without asking its model. The interrupt's descriptions say the same words.
"""

from collections.abc import Sequence
from hashlib import sha256

from langchain_core.messages import AIMessage

from graph.nodes.review_request import request_about
from graph.nodes.review_subject import Subject, uncertain_calls
from graph.plan.schema import Plan
from graph.review.request import ReviewRequest
from graph.run_context import RunContext
from graph.state import REVIEW, State
from graph.text.review import plan_message

HOW_TO_REJECT = "To reject, write a reason; some clients send an empty rejection as an approval."


def message_about(run: RunContext, plan: Plan, uncertain: Sequence[str] = ()) -> AIMessage:
    """Return what the node before review leaves in the chat: what will be asked, or the plan if nothing will."""
    calls = uncertain_calls(run.record, list(uncertain))
    request = request_about(run, Subject(plan.to_json(), plan, uncertain=calls))
    if request.actions:
        return message_of(run, request)
    record = run.record
    name = f"{record.id}-revision-{record.revision}-{run.checkpoint}"
    return AIMessage(plan_message(plan, record.revision), id=name, name=REVIEW)


def message_without_plan(run: RunContext) -> AIMessage:
    """Return what is left in the chat if a person is needed before there is a plan."""
    return message_of(run, request_about(run, Subject(None, None, planned=False)))


def message_of(run: RunContext, request: ReviewRequest) -> AIMessage:
    """Return the message that says what is asked; its id is new at each checkpoint, so that it comes last."""
    return AIMessage(_words(request), id=f"{_name(request)}-{run.checkpoint}", name=REVIEW)


def is_said(state: State, request: ReviewRequest) -> bool:
    """Whether the chat ends with what is asked.

    The id tells, not the text: a checkpoint may hand the text back changed (half a surrogate pair becomes `?`).
    """
    messages = list(state.get("messages") or [])
    return bool(messages) and messages[-1].type == "ai" and str(messages[-1].id).startswith(_name(request))


def _name(request: ReviewRequest) -> str:
    return f"{request.run}-asks-{sha256(_words(request).encode('utf-8', 'replace')).hexdigest()[:16]}"


def _words(request: ReviewRequest) -> str:
    told: list[str] = [action["description"] for action in request.to_json()["action_requests"]]
    return "\n\n".join([f"Your decision is needed. {HOW_TO_REJECT}", *told])
