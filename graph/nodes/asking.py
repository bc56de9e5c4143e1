"""What review asks of a plan, and the message that says it in the chat.

A node that interrupts writes nothing to the state, and chat clients hide a request unless the last message is the
assistant's. So the message is left by the node before review; where that one could not know what will be asked (an
answer was turned down, the plan was changed in the state, a fork), review leaves the message itself and goes round by
the planner, which sends it back without asking its model. The interrupt's descriptions say the same words.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from langchain_core.messages import AIMessage

from graph.plan.canonical import digest
from graph.plan.issues import Issue
from graph.plan.revision import difference
from graph.plan.schema import Plan, Step
from graph.policy.scope import needs_person, repeats
from graph.record.replacement import replaced_in_words
from graph.record.run_state import BudgetExhausted, Call, Held, RunState
from graph.record.values import to_text
from graph.review.estimate import estimate
from graph.review.human_steps import GATE, open_questions
from graph.review.request import Action, ReviewRequest
from graph.run_context import RunContext
from graph.state import REVIEW, State
from graph.text.review import (
    budget_description,
    gate_description,
    held_description,
    invalid_description,
    plan_description,
    plan_message,
    question_description,
    uncertain_description,
)

SAY_FIRST = "what is asked is said first"
HOW_TO_REJECT = "To reject, write a reason; some clients send an empty rejection as an approval."


@dataclass(frozen=True)
class Subject:
    """What is to be decided: the plan in the state (None where it cannot run) and calls that may have happened.

    `planned` is false where a budget was spent before there was a plan.
    """

    raw: Any
    plan: Plan | None
    issues: tuple[Issue, ...] = ()
    uncertain: tuple[Call, ...] = ()
    planned: bool = True

    @property
    def digest(self) -> str:
        """Digest of the plan that is shown, valid or not."""
        if self.plan is not None:
            return self.plan.digest
        try:
            return digest(self.raw)
        except (ValueError, TypeError, RecursionError):
            return digest(repr(self.raw))


def request_about(run: RunContext, subject: Subject) -> ReviewRequest:
    """Return what needs a person now; no actions where nothing does, the last error where it is asked again."""
    record, plan, terms = run.record, subject.plan, run.terms
    left = estimate(plan, record, terms.bounds) if plan is not None else {}
    actions = [_about_plan(run, subject, left)] if _plan_needs_person(run, subject) else []
    due = open_questions(plan, record) if plan is not None else []
    actions += [_about_gate(run, step) for step in due if step.kind == "gate"]
    actions += [_about_held(held) for held in record.waiting_calls]
    actions += [_about_question(run, step) for step in due if step.kind == "ask"]
    actions += [_about_uncertain(run, call) for call in subject.uncertain]
    actions += [_about_budget(run, record.shortage)] if record.shortage is not None else []
    request = ReviewRequest(
        run=record.id,
        revision=record.revision,
        digest=subject.digest,
        binding=terms.binding(plan) if plan is not None else "",
        actions=tuple(actions),
        diff=difference(run.approved_plan(), plan).to_json() if plan is not None else {},
        issues=tuple(issue.to_json() for issue in subject.issues),
        estimate=left if actions else {},
    )
    if is_open(run, request) and record.request and record.request.error:
        return request.again(record.request.error, record.request.issues)
    return request


def uncertain_calls(record: RunState, named: Any) -> tuple[Call, ...]:
    """Return the calls that a person has to settle before the plan goes on, those that the state names among them."""
    keys = [call.key for calls in record.uncertain_calls.values() for call in calls]
    keys += [key for key in named if isinstance(key, str)] if isinstance(named, list) else []
    calls = (record.call(key) for key in dict.fromkeys(keys))
    return tuple(call for call in calls if call is not None and call.is_uncertain)


def is_open(run: RunContext, request: ReviewRequest) -> bool:
    """Whether the ledger says that just this was shown and is undecided."""
    return run.record.request is not None and run.record.request.subject == request.subject


def message_about(run: RunContext, plan: Plan, doubts: Sequence[str] = ()) -> AIMessage:
    """Return what the node before review leaves in the chat: what will be asked, or the plan where nothing will."""
    calls = uncertain_calls(run.record, list(doubts))
    request = request_about(run, Subject(plan.to_json(), plan, uncertain=calls))
    if request.actions:
        return message_of(run, request)
    record = run.record
    name = f"{record.id}-revision-{record.revision}-{run.checkpoint}"
    return AIMessage(plan_message(plan, record.revision), id=name, name=REVIEW)


def message_without_plan(run: RunContext) -> AIMessage:
    """Return what is left in the chat where a person is needed before there is a plan."""
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


def _plan_needs_person(run: RunContext, subject: Subject) -> bool:
    if subject.plan is None:
        return subject.planned
    return needs_person(run.record, subject.plan, run.terms)


def _about_plan(run: RunContext, subject: Subject, left: Mapping[str, Any]) -> Action:
    record, plan = run.record, subject.plan
    if plan is None:
        shown: Mapping[str, Any] = subject.raw if isinstance(subject.raw, dict) else {"steps": subject.raw}
        return Action("run_plan", {"plan": shown}, invalid_description(record.revision, subject.issues))
    warnings = [
        *([record.stalled] if record.stalled else []),
        *repeats(record, plan),
        *replaced_in_words(record.replaced, plan),
        *(record.would_replace if plan.digest == record.digest else ()),
    ]
    before, specs, done = run.approved_plan(), run.services.toolbox.specs, record.succeeded
    rests_on = (record.id, record.revision, plan.digest, before and before.digest, done, *warnings, to_text(dict(left)))
    text = run.services.descriptions.get(
        rests_on, lambda: plan_description(plan, record.revision, before, specs, done, warnings, left)
    )
    return Action("run_plan", {"plan": plan.to_json()}, text)


def _about_gate(run: RunContext, step: Step) -> Action:
    seen = run.seen_by(step)
    return Action("run_step", {"step": step.id, "tool": GATE, "args": seen}, gate_description(step, seen))


def _about_question(run: RunContext, step: Step) -> Action:
    asked = {"step": step.id, "question": step.ask, "answer": None}
    return Action("answer_question", asked, question_description(step, run.seen_by(step)), answer_schema=step.output)


def _about_held(held: Held) -> Action:
    shown = {"step": held.step, "tool": held.tool, "args": dict(held.args)}
    return Action("run_step", shown, held_description(held), held.key)


def _about_uncertain(run: RunContext, call: Call) -> Action:
    asked = {"step": call.step, "tool": call.tool, "args": dict(call.args), "happened": None, "result": None}
    steps = [step for step, calls in run.record.uncertain_calls.items() if call in calls]
    return Action("settle_effect", asked, uncertain_description(call, steps), call.key)


def _about_budget(run: RunContext, shortage: BudgetExhausted) -> Action:
    bounds, spent, hard = run.terms.bounds, run.record.usage, run.terms.policy.limits
    shown = {"budget": bounds.to_json(), "spent": spent.to_json()}
    return Action("raise_budget", shown, budget_description(shortage, bounds, spent, hard), shortage.limit)
