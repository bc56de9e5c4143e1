"""The chat message that announces a review request.

A node that interrupts cannot write to the state, and chat clients hide a request unless the last message is the
assistant's. So the node before review writes the message. If that node could not know the request (a response was
refused, the plan was changed in the state, a fork), review writes the message itself and routes to the planner, which
returns without calling its model. The descriptions in the interrupt have the same text.

Once there is a decision, review leaves a message that says what was decided, and by whom.
"""

from collections.abc import Sequence
from hashlib import sha256
from shlex import quote

from langchain_core.messages import AIMessage

from planner_executor.graph.errors import InputError
from planner_executor.graph.nodes.review.calls import calls_for
from planner_executor.graph.nodes.review.request import leave_request, request_about
from planner_executor.graph.nodes.review.subject import Subject, uncertain_calls
from planner_executor.graph.nodes.run.context import RunContext
from planner_executor.graph.plain_text.markdown import code
from planner_executor.graph.plain_text.sanitize import escaped
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.record.events import WITHOUT_ANSWER
from planner_executor.graph.review.request import ReviewRequest
from planner_executor.graph.state import REVIEW, State, StateUpdate
from planner_executor.graph.text.decision import decision_text, refused_text
from planner_executor.graph.text.review.drawing import settled
from planner_executor.graph.text.review.plan import plan_message

HOW_TO_DECIDE = (
    "Your decision is needed. Decide with the buttons of this chat or, if it has none, with {command}. A message here "
    "decides nothing: it is a new goal."
)
HOW_TO_REJECT = "To reject, write a reason: some chat clients send an empty rejection as an approval."


def message_about(run: RunContext, plan: Plan, uncertain: Sequence[str] = ()) -> AIMessage:
    """Return the message of the node before review: the request, or the plan if there will be no request."""
    subject = Subject(plan.to_json(), plan, uncertain=uncertain_calls(run.record, list(uncertain)))
    request = request_about(run, subject)
    leave_request(run, subject, request)
    if request.actions:
        return message_of(run, request)
    record = run.record
    name = f"{record.id}-revision-{record.plan_state.revision}-{run.checkpoint}"
    text = plan_message(plan, record.plan_state.revision, settled(plan, record.steps.results))
    return AIMessage(text, id=name, name=REVIEW)


def message_without_plan(run: RunContext) -> AIMessage:
    """Return the message if a person is needed before there is a plan."""
    return message_of(run, request_about(run, Subject(None, None, planned=False)))


def message_of(run: RunContext, request: ReviewRequest) -> AIMessage:
    """Return the message of a request; its id is new at each checkpoint, so that it comes last."""
    name = f"{_name(request)}-{run.checkpoint}"
    return AIMessage(_words(request), id=name, name=REVIEW, tool_calls=calls_for(request))


def _message_of_decision(run: RunContext) -> AIMessage | None:
    """Return the message of the decision that was made at this checkpoint, None if there is none on record."""
    decided = run.record.review_state.decided_at.get(run.checkpoint)
    if decided is None or decided.by in WITHOUT_ANSWER:
        return None
    calls = {call.key: call for call in (run.record.calls.find(said.key) for said in decided.settled) if call}
    text = decision_text(decided, run.record.plan_state.revision, calls)
    return AIMessage(text, id=f"{run.record.id}-decided-{decided.request}", name=REVIEW)


def with_decision(run: RunContext, update: StateUpdate) -> StateUpdate:
    """Return the state update with the message of the decision, if there is one, before any other."""
    said = _message_of_decision(run)
    return update if said is None else {**update, "messages": [said, *update.get("messages", ())]}


def with_refusal(run: RunContext, refused: InputError, update: StateUpdate) -> StateUpdate:
    """Return the state update with the reason why the user's words were refused, before any other message."""
    said = AIMessage(refused_text(str(refused)), id=f"{run.record.id}-refused-{run.checkpoint}", name=REVIEW)
    return {**update, "messages": [said, *update.get("messages", ())]}


def is_announced(state: State, request: ReviewRequest) -> bool:
    """Whether the chat ends with the request, as it was written: a client may have put other words under its id."""
    messages = list(state.get("messages") or [])
    if not messages or not str(messages[-1].id).startswith(_name(request)):
        return False
    last = messages[-1]
    if not isinstance(last, AIMessage) or last.tool_calls != calls_for(request):
        return False
    return _kept(str(last.text)) == _kept(_words(request))


def _name(request: ReviewRequest) -> str:
    return f"{request.run}-asks-{sha256(_words(request).encode('utf-8', 'replace')).hexdigest()[:16]}"


def _words(request: ReviewRequest) -> str:
    is_yes_taken = any("approve" in action.allowed or action.name == "run_plan" for action in request.actions)
    how = HOW_TO_DECIDE.format(command=code(escaped(f"planner-executor resume {quote(request.run)}")))
    return "\n\n".join([*request.descriptions, how, *([HOW_TO_REJECT] if is_yes_taken else [])])


def _kept(text: str) -> bytes:
    """Return a text as a checkpoint keeps it: a lone surrogate becomes `?`."""
    return text.encode("utf-8", "replace")
