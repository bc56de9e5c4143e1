"""Building the response to a review request from a person's statements about each action."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from planner_executor.graph.errors import InputError
from planner_executor.graph.plain_text.sanitize import escaped, one_line
from planner_executor.graph.plan.json_values import long_integer_fault
from planner_executor.graph.record.comment import Comment, said_together
from planner_executor.graph.record.values import to_text
from planner_executor.graph.review.request_json import GATE, ActionJson, ActionName, RequestJson, digest_of_request

WORDS: Mapping[ActionName, str] = {
    "run_plan": "the plan",
    "run_step": "{step} with {tool}",
    "answer_question": "{step}: {question}",
    "settle_effect": "whether {step}'s call of {tool} happened",
    "raise_budget": "the budget",
}
ENDS = {"type": "reject", "final": True}
ARGS_CHARACTERS = 500
FINISHES = "finish with what there is"


@dataclass(frozen=True, kw_only=True)
class ReviewResponse:
    """A person's statements; unset fields leave their actions undecided.

    `approve` accepts the plan, calls and gates shown, but for calls that a revision adds: `approved` names those, by
    step; `plan` replaces the plan shown. `answers` maps steps to answers
    of questions. `happened` states for each uncertain call, in the order shown, whether it took effect; `results`
    lists the results of those that did. `args` maps steps to the arguments that their held calls are to be made with
    instead, `rejected` maps steps to the reason why their held calls are not to be made, `standing` approves held calls
    and further ones (see `graph.policy.standing`); of several calls of one step the n-th shown is `step#n`.
    `standing_runs` approves the plan and further runs of its playbook. `limits` are the changed limits of the budget.
    `finish` ends the run with the results so far if the budget is spent, `stop` ends it as rejected. `feedback`
    requests a new plan with this text, as do `comments`, pairs of a step and what is said of it; without `happened`
    uncertain calls stay open. `reason` is why all this is approved,
    and `ask_later` names steps whose calls its approval does not cover.
    """

    approve: bool = False
    approved: Sequence[str] = ()
    plan: Any = None
    answers: Mapping[str, Any] = field(default_factory=dict)
    happened: Sequence[bool] = ()
    results: Sequence[Any] = ()
    args: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    rejected: Mapping[str, str] = field(default_factory=dict)
    standing: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    standing_runs: Mapping[str, Any] = field(default_factory=dict)
    limits: Mapping[str, Any] = field(default_factory=dict)
    feedback: str | None = None
    comments: Sequence[tuple[str, str]] = ()
    reason: str | None = None
    ask_later: Sequence[str] = ()
    finish: bool = False
    stop: bool = False

    def __bool__(self) -> bool:
        """Whether any field is set."""
        return self != ReviewResponse()


def build_response(request: RequestJson, response: ReviewResponse) -> dict[str, Any]:
    """Return one decision per action, bound to this very request.

    Raises:
        InputError: An action is undecided, or a statement matches no action, or holds what no checkpoint can.
    """
    # Always the digest of this very request: that of the plan would also fit a later request for the same plan.
    return {"decisions": _decisions(request["action_requests"], response), "digest": digest_of_request(request)}


def asked(request: RequestJson, name: str) -> list[ActionJson]:
    """Return the actions of a request with this name."""
    return [action for action in request["action_requests"] if action["name"] == name]


def allowed(request: RequestJson, *names: ActionName) -> frozenset[str]:
    """Return the types of decisions that a request accepts for its actions, or for those of these names alone."""
    exact = [(one["name"], one["decisions"]) for one in _content(request).get("actions", ())]
    # By action if the content is on record; the configs are by name, and so say less of a plan that cannot run.
    known = exact or [(one["action_name"], one["allowed_decisions"]) for one in request["review_configs"]]
    return frozenset(kind for name, kinds in known if not names or name in names for kind in kinds)


def settled_steps(request: RequestJson) -> list[str]:
    """Return the steps whose calls the approval of the plan settles, which `ask_later` may leave out."""
    steps = [step for action in _content(request).get("actions", ()) for step in action.get("steps", ())]
    return [step["id"] for step in steps if isinstance(step, Mapping) and step.get("settled")]


def reason_for(request: RequestJson) -> list[str]:
    """Return the tools for which an approval has to carry a reason."""
    return [*_content(request).get("reason_for", ())]


def _content(request: RequestJson) -> Mapping[str, Any]:
    """Return the content of a request as data; earlier releases recorded none, and it may be redacted."""
    found = request.get("review")
    return found if isinstance(found, Mapping) else {}


def can_approve(request: RequestJson) -> bool:
    """Whether an approval decides anything: a plan that can run, or a call or a gate beside no plan with faults."""
    return "approve" in allowed(request, *(("run_plan",) if asked(request, "run_plan") else ("run_step",)))


def _decisions(actions: Sequence[ActionJson], response: ReviewResponse) -> list[dict[str, Any]]:
    if response.stop:  # the bare rejection of a budget would finish the run with what there is
        return [{**ENDS, "message": "stop"} if action["name"] == "raise_budget" else ENDS for action in actions]
    # Before any decision is made: a statement about nothing is a mistake about another request.
    for name, why in _unmatched(actions, response):
        raise InputError(name, why)
    settled, names = _settled(response), call_names(actions)
    made = [
        _edited(action, **next(settled))
        if action["name"] == "settle_effect" and response.happened
        else _call_decision(action, name, response) or _decision(action, response)
        for action, name in zip(actions, names, strict=True)
    ]
    if left := [describe_action(action) for action, decision in zip(actions, made, strict=True) if decision is None]:
        by_name = f", calls that are new by name ({', '.join(new)})" if (new := _undecided_new(actions, made)) else ""
        raise InputError("decision", f"undecided: {'; '.join(left)}; decide each of them{by_name}")
    # A checkpoint cannot hold an integer beyond 64 bits: the answer would fail after it was given.
    if fault := long_integer_fault(made):
        raise InputError("decision", fault)
    return [_with_reason(decision, response.reason) for decision in made if decision is not None]


def _with_reason(decision: dict[str, Any], reason: str | None) -> dict[str, Any]:
    """Return an approval, or an edit of a plan or a call, with the reason for it."""
    edited = decision["edited_action"]["name"] if decision["type"] == "edit" else None
    lets_happen = decision["type"] == "approve" or edited in ("run_plan", "run_step")
    return {**decision, "reason": reason} if reason and lets_happen else decision


def _decision(action: ActionJson, response: ReviewResponse) -> dict[str, Any] | None:
    """Return the decision about an action other than a settled call, None if it is undecided."""
    name, step = action["name"], action["args"].get("step")
    if name == "answer_question" and step in response.answers:
        return _edited(action, answer=response.answers[step])
    if response.finish:
        return ENDS if name == "raise_budget" else {"type": "reject", "message": FINISHES}
    if response.feedback is not None or response.comments:
        return _sent_back(name, response)
    if name == "raise_budget" and response.limits:
        return _edited(action, budget=_raised(action["args"]["budget"], response.limits))
    if name == "run_plan" and response.plan is not None:
        return _edited(action, plan=response.plan)
    # One yes does not answer for what a revision adds: such a call has a digest of its own (decision 121).
    if not response.approve or name not in ("run_plan", "run_step") or is_new(action):
        return None
    if name != "run_plan":
        return {"type": "approve"}
    later = {"ask_later": [*response.ask_later]} if response.ask_later else {}
    further = {"standing": dict(response.standing_runs)} if response.standing_runs else {}
    return {"type": "approve", **later, **further}


def _sent_back(name: str, response: ReviewResponse) -> dict[str, Any]:
    """Return the rejection of an action with words; comments stand beside that of the plan."""
    said = [Comment(step, text) for step, text in response.comments]
    if name != "run_plan" or not said:
        return {"type": "reject", "message": said_together(response.feedback, said)}
    return {"type": "reject", "message": response.feedback, "comments": [one._asdict() for one in said]}


def is_new(action: ActionJson) -> bool:
    """Whether an action is a call that a revision adds, which is decided by its name."""
    return "digest" in action


def new_calls(actions: Sequence[ActionJson]) -> list[str]:
    """Return the names of the calls that a revision adds."""
    return [str(name) for action, name in zip(actions, call_names(actions), strict=True) if is_new(action)]


def _undecided_new(actions: Sequence[ActionJson], made: Sequence[Mapping[str, Any] | None]) -> list[str]:
    names = zip(actions, call_names(actions), made, strict=True)
    return [str(name) for action, name, decision in names if is_new(action) and decision is None]


def call_names(actions: Sequence[ActionJson]) -> list[str | None]:
    """Return the name of each held call: its step, or `step#n` if the step has several; None for other actions.

    >>> call_names([{"name": "run_step", "args": {"step": "a", "tool": "mail"}}] * 2)
    ['a#1', 'a#2']
    """
    steps = [action["args"]["step"] if _is_call(action) else None for action in actions]
    # Counted over calls alone, so that a question of the same step does not make its one call `step#1`.
    several, counts = Counter(steps), Counter[str | None]()
    names: list[str | None] = []
    for step in steps:
        counts[step] += 1
        names.append(step if step is None or several[step] == 1 else f"{step}#{counts[step]}")
    return names


def _is_call(action: ActionJson) -> bool:
    return bool(action["name"] == "run_step" and action["args"]["tool"] != GATE)


def _call_decision(action: ActionJson, name: str | None, response: ReviewResponse) -> dict[str, Any] | None:
    """Return the decision about one held call alone, None if there is none."""
    if name is None:
        return None
    if name in response.rejected:
        return {"type": "reject", "message": response.rejected[name]}
    if name in response.approved:
        return {"type": "approve", **({"digest": action["digest"]} if is_new(action) else {})}
    if name in response.standing:
        return {"type": "approve", "standing": dict(response.standing[name])}
    return _edited(action, args=dict(response.args[name])) if name in response.args else None


def _settled(response: ReviewResponse) -> Iterator[dict[str, Any]]:
    results = iter(response.results)
    for happened in response.happened:
        yield {"happened": happened, "result": next(results, None) if happened else None}


def _edited(action: ActionJson, **filled: Any) -> dict[str, Any]:
    return {"type": "edit", "edited_action": {"name": action["name"], "args": {**action["args"], **filled}}}


def _raised(budget: Mapping[str, Any], limits: Mapping[str, Any]) -> dict[str, Any]:
    # Limits of single tools are merged one by one: the others of `calls` stay.
    calls = {**budget.get("calls", {}), **limits.get("calls", {})}
    return {**budget, **limits, **({"calls": calls} if calls else {})}


def _unmatched(actions: Sequence[ActionJson], response: ReviewResponse) -> Iterator[tuple[str, str]]:
    """Yield (field, error) for statements that match no open action, and for uncertain calls left unanswered."""
    names = [action["name"] for action in actions]
    calls = [describe_action(action) for action in actions if action["name"] == "settle_effect"]
    questions = [describe_action(action) for action in actions if action["name"] == "answer_question"]
    steps = {action["args"]["step"] for action in actions if action["name"] == "answer_question"}
    # A plan may be sent back first: its uncertain calls are asked about again with the next one.
    leaves_open = (response.feedback is not None or response.comments) and not response.happened
    if len(response.happened) != len(calls) and not leaves_open:
        yield "happened", f"answer once for each: {'; '.join(calls)}" if calls else "no call is uncertain"
    if len(response.results) > sum(response.happened):
        yield "result", "there are more results than calls that happened"
    for step in response.answers:
        if step not in steps:
            open_ones = f"; open questions: {'; '.join(questions)}" if questions else ""
            yield "answer", f"{step} has no open question{open_ones}"
    yield from _unmatched_calls(actions, response)
    if response.approve and not {"run_plan", "run_step"} & set(names):
        yield "approve", "there is nothing to approve"
    if "run_plan" not in names:
        yield from _unmatched_plan(response)
    if (response.limits or response.finish) and "raise_budget" not in names:
        yield "budget", "no limit of the budget is reached"
    # A rejection without words ends the run, and nobody asks for that by feedback.
    if response.feedback is not None and not (response.feedback.strip() or response.comments):
        yield "feedback", "it is blank; say what to change, or stop the run"
    # An answer to every call leaves nothing that words could send back.
    if response.feedback is not None and response.happened and set(names) == {"settle_effect"}:
        yield "feedback", "all that is asked is answered; leave out the feedback, or the answer"


def _unmatched_plan(response: ReviewResponse) -> Iterator[tuple[str, str]]:
    """Yield (field, error) for statements about a plan, where none is under review."""
    stated = (
        (response.comments, "comment", "no plan is under review; give feedback instead"),
        (response.plan is not None, "edit", "there is no plan to approve"),
        (response.standing_runs, "standing_runs", "no plan is under review; it covers runs of a playbook"),
        (response.ask_later, "ask_later", "no plan is under review; a call that is asked about is due"),
    )
    yield from ((name, why) for is_stated, name, why in stated if is_stated)


def _unmatched_calls(actions: Sequence[ActionJson], response: ReviewResponse) -> Iterator[tuple[str, str]]:
    calls = [name for name in call_names(actions) if name]
    decided: Mapping[str, Collection[str]] = {
        "approved": response.approved,
        "args": response.args,
        "rejected": response.rejected,
        "standing": response.standing,
    }
    for field_name, named in decided.items():
        if unknown := [name for name in named if name not in calls]:
            yield field_name, f"{unknown[0]} has no call to decide; there are: {', '.join(calls) or 'none'}"
    # One call under two headings would be decided by whichever is looked at first.
    counts = Counter(name for named in decided.values() for name in named)
    if twice := [name for name, count in counts.items() if count > 1]:
        yield "args", f"{twice[0]} is decided twice; edit, reject or approve its call"


def describe_action(action: ActionJson) -> str:
    """Return the subject of an action on one line; calls of one step differ by their arguments.

    >>> describe_action({"name": "run_step", "args": {"step": "send", "tool": "mail", "args": {"to": "ann"}}})
    'send with mail {"to":"ann"}'
    """
    args = action["args"].get("args")
    shown = f" {one_line(to_text(args), ARGS_CHARACTERS)}" if args else ""
    # The pattern is ours and the arguments go in as values, so braces in a tool's words are never fields.
    return escaped(WORDS[action["name"]].format(**action["args"])) + shown
