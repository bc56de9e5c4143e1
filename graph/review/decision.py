"""Parsing the response to a review request; an ambiguous response is refused and asked for again, never guessed."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, assert_never

from planner_executor.graph.plan.broken_json import json_fault
from planner_executor.graph.plan.depth import parse_json_or_text
from planner_executor.graph.plan.issues import Issue, storable
from planner_executor.graph.plan.json_values import json_faults
from planner_executor.graph.record.comment import Comment, said_together
from planner_executor.graph.review.answer_form import Approval, Edit, Rejection
from planner_executor.graph.review.comments import read_comments, split_comments, step_ids
from planner_executor.graph.review.content import PlanContent
from planner_executor.graph.review.request import ReviewAction, ReviewRequest
from planner_executor.graph.review.request_json import DecisionType
from planner_executor.graph.words.name_list import counted, enumerated, right_name

YES = ("approve", "yes", "y", "ok")
NO = ("reject", "no", "n")
FINAL = ("stop", "cancel", "reject", "no", "n")
KEYS: Mapping[DecisionType, set[str]] = {
    "approve": set(Approval.__annotations__),
    "edit": set(Edit.__annotations__),
    "reject": set(Rejection.__annotations__),
}

ASK_LATER = re.compile(r"\s*ask\s+later\s+(?P<step>[A-Za-z][A-Za-z0-9_]*)\s*", re.IGNORECASE)
"""A line in a chat, below an approval."""
OBJECT = re.compile(r'\s*\{\s*"')
"""The beginning of a JSON object; one that breaks off is no feedback."""
SUBJECT_ARGS = {"step", "tool", "args", "question"}
"""Arguments that identify the subject of a request; an edit cannot change them, but for those of a call to be made."""


@dataclass(frozen=True)
class Decision:
    """One decision: `args` of an edit, `message` of a rejection, `final` if it ends the run.

    `standing` is the wish beside an approval that further calls be covered too, see `graph.policy.standing`, `reason`
    why it was given, or an edit, and `ask_later` the steps whose calls are asked about when they are due. `comments`
    on steps are words like the message. `finishes` means that the run ends with its results so far because the budget
    is not raised.
    """

    type: DecisionType
    args: Mapping[str, Any] | None = None
    message: str | None = None
    final: bool = False
    finishes: bool = False
    standing: Mapping[str, Any] | None = None
    reason: str | None = None
    ask_later: tuple[str, ...] = ()
    comments: tuple[Comment, ...] = ()

    @property
    def feedback(self) -> str:
        """The words of a rejection: its message and its comments."""
        return said_together(self.message, self.comments)

    def to_json(self) -> dict[str, Any]:
        """Return the decision as JSON for the ledger, without an edited plan, which is recorded as a revision."""
        args = None if self.args is None else {name: value for name, value in self.args.items() if name != "plan"}
        # What a reader takes for granted, such as a false `final`, is left out.
        fields: dict[str, Any] = {"type": self.type, "args": args, "message": self.message, "final": self.final or None}
        fields["standing"] = dict(self.standing) if self.standing is not None else None
        fields |= {"reason": self.reason, "ask_later": list(self.ask_later) or None}
        fields |= {"comments": [one._asdict() for one in self.comments] or None}
        return {name: value for name, value in fields.items() if value is not None}


class InvalidResponse(Exception):
    """The response is not a valid decision; the message states the expected format. It never leaves the review node.

    `issues` are the faults of an edited plan.
    """

    def __init__(self, message: str, issues: Sequence[Issue] = ()) -> None:
        self.issues = tuple(issues)
        super().__init__(storable(message))


class RefusedDecision(InvalidResponse):
    """Its author may not decide, whatever the decision is."""


def read_answer(answer: Any, request: ReviewRequest) -> tuple[Decision, ...]:
    """Return one decision per action, in order.

    Raises:
        InvalidResponse: The response is not unambiguously a decision about the request.
    """
    if isinstance(answer, str):
        # Chats send JSON as text; an object that breaks off must not be read as feedback.
        text, answer = answer, _from_text(answer)
        if isinstance(answer, str) and OBJECT.match(text) and (fault := json_fault(text)):
            raise InvalidResponse(f"the answer is not valid JSON: {fault}")
    single = len(request.actions) == 1
    if isinstance(answer, dict) and "decisions" in answer:
        return _read_list(answer, request)
    if isinstance(answer, dict) and "type" in answer:
        if not single:
            raise InvalidResponse(_count_message(request))
        return (_read_decision(answer, request.actions[0], request.digests_for(request.actions[0])),)
    if single and request.actions[0].name == "run_plan":
        found = _read_short(answer, request)
        # Short forms pass the same gate: nobody approves a plan that cannot run by a bare yes.
        _check_allowed(found.type, request.actions[0])
        return (found,)
    raise InvalidResponse(_count_message(request))


def _check_allowed(said: str, action: ReviewAction) -> DecisionType:
    kind = next((one for one in action.allowed if one == said), None)
    if kind is None:
        raise InvalidResponse(f"{action.name} takes {', '.join(action.allowed)}, not {said!r}")
    return kind


def _from_text(text: str) -> Any:
    """Parse text as JSON if it is JSON; NaN and Infinity are text."""
    return parse_json_or_text(text, parse_constant=_no_constant)


def _no_constant(name: str) -> None:
    raise ValueError(name)


def _read_list(answer: Mapping[str, Any], request: ReviewRequest) -> tuple[Decision, ...]:
    if unknown := [str(key)[:80] for key in answer if key not in ("decisions", "digest")]:
        raise InvalidResponse(f"unknown keys beside decisions: {', '.join(unknown)}; remove them")
    _check_digest(answer, request.digests)
    decisions = answer["decisions"]
    if not isinstance(decisions, list) or len(decisions) != len(request.actions):
        raise InvalidResponse(_count_message(request))
    return tuple(
        _read_decision(decision, action, request.digests_for(action))
        for decision, action in zip(decisions, request.actions, strict=True)
    )


def _count_message(request: ReviewRequest) -> str:
    names = ", ".join(action.name for action in request.actions)
    return f'answer {{"decisions": [...]}} with {counted(len(request.actions), "decision")}, in order: {names}'


def _read_decision(decision: Any, action: ReviewAction, digests: Sequence[str]) -> Decision:
    if not isinstance(decision, dict) or not isinstance(decision.get("type"), str):
        raise InvalidResponse('a decision must be an object with "type"')
    kind = _check_allowed(decision["type"], action)
    # A wish that is not read would look granted, so an unknown key is refused.
    extra = {key for key, value in decision.items() if value is not None} - KEYS[kind]
    if extra:
        raise InvalidResponse(f"unknown keys in {kind}: {', '.join(sorted(map(str, extra)))}; remove them")
    _check_digest(decision, digests)
    match kind:
        case "approve":
            return Decision(
                "approve",
                standing=_read_standing(decision.get("standing"), action),
                reason=_read_reason(decision.get("reason")),
                ask_later=_read_ask_later(decision.get("ask_later"), action),
            )
        case "edit":
            args, reason = _edited_args(decision.get("edited_action"), action), _read_reason(decision.get("reason"))
            return Decision("edit", args=args, reason=reason)
        case "reject":
            return _read_reject(decision, action)
        case _:
            assert_never(kind)


def _read_standing(wish: Any, action: ReviewAction) -> Mapping[str, Any] | None:
    if wish is None:
        return None
    # A gate is a `run_step` without a key: there is no call that further ones could be like.
    if action.name != "run_plan" and (action.name != "run_step" or action.key is None):
        raise InvalidResponse(
            f"a standing approval covers calls of a tool or runs of a playbook, and {action.name} is neither"
        )
    # A model planned it after untrusted results were read: a yes is one to
    # this call, not to those to come (decision 121).
    if action.digest is not None:
        raise InvalidResponse(f"{action.args['step']} has a call that is new in this plan: decide it without standing")
    if not isinstance(wish, dict):
        raise InvalidResponse('standing must be an object such as {"at_most": 5}')
    for path, message in json_faults(wish):
        raise InvalidResponse(f"standing{path}: {message}")
    return wish


def _check_digest(holder: Mapping[str, Any], digests: Sequence[str]) -> None:
    given = holder.get("digest")
    if given is not None and given not in digests:
        why = f"the decision names digest {str(given)[:80]!r}, but the request is about {digests[0]}"
        raise InvalidResponse(f"{why}; review the request again")


def _read_reason(reason: Any) -> str | None:
    if not isinstance(reason, str | None):
        raise InvalidResponse("the reason must be text")
    return storable((reason or "").strip()) or None


def _read_ask_later(raw: Any, action: ReviewAction) -> tuple[str, ...]:
    if raw is None:
        return ()
    if action.name != "run_plan":
        raise InvalidResponse(f"ask_later names steps of a plan, and {action.name} shows none; remove it")
    if not isinstance(raw, list):
        raise InvalidResponse('ask_later must be a list of ids of steps such as ["step_2"]')
    ids = step_ids(action.args.get("plan"))
    if strange := [one for one in raw if one not in ids]:
        raise InvalidResponse(
            f"ask_later: the plan has no step {str(strange[0])[:80]!r}; {right_name(strange[0], ids)}"
        )
    # Only a request that lists what approving settles can be asked to leave some of it out.
    if isinstance(action.content, PlanContent):
        asked = [step.id for step in action.content.steps if step.settled or step.asked_later]
        if others := [one for one in raw if one not in asked]:
            known = f"it asks about those of {enumerated(asked)}" if asked else "remove it"
            raise InvalidResponse(f"ask_later: the policy asks about no call of {others[0]}; {known}")
    return tuple(dict.fromkeys(raw))


def _read_reject(decision: Mapping[str, Any], action: ReviewAction) -> Decision:
    message, final = decision.get("message"), decision.get("final")
    if not isinstance(message, str | None):
        raise InvalidResponse("the message of a rejection must be text")
    if not isinstance(final, bool | None):
        raise InvalidResponse("final must be true or false")
    return _rejection(message, action, bool(final), decision.get("comments"))


def _rejection(message: str | None, action: ReviewAction, final: bool = False, raw: Any = None) -> Decision:
    """Return the rejection of an action.

    Lines `comment STEP: TEXT` in the message about a plan are comments too: clients of a chat have a message only.
    """
    comments: tuple[Comment, ...] = ()
    if action.name == "run_plan":
        message, lines = split_comments(message or "")
        ids = step_ids(action.args.get("plan"))
        try:
            comments = (*action.collected, *read_comments(raw, ids), *read_comments(lines, ids))
        except ValueError as fault:
            raise InvalidResponse(str(fault)) from fault
    elif raw not in (None, []):
        raise InvalidResponse(f"comments are about steps of a plan, and {action.name} shows none; write a message")
    return rejection(message, final, comments)


def rejection(message: str | None, final: bool = False, comments: Sequence[Comment] = ()) -> Decision:
    """Return a rejection: feedback if there are words, the end of the run if there are none or one of `FINAL`."""
    text = storable((message or "").strip())
    # A planner can make nothing of a bare no, or of a word that only means stop.
    ends = final or not (text or comments) or text.lower() in FINAL
    return Decision("reject", message=text or None, final=ends, comments=tuple(comments))


def _edited_args(edited: Any, action: ReviewAction) -> Mapping[str, Any]:
    if not isinstance(edited, dict) or not isinstance(edited.get("args"), dict):
        raise InvalidResponse('an edit must have "edited_action": {"name": ..., "args": {...}}')
    if edited.get("name") != action.name:
        raise InvalidResponse(f"the edited action is named {edited.get('name')!r}; the request is {action.name}")
    extra = set(edited["args"]) - set(action.args)
    if extra:
        raise InvalidResponse(f"{action.name} has no argument {', '.join(sorted(map(str, extra)))}; remove it")
    args = {name: _as_shown(value, action.args[name], name) for name, value in edited["args"].items()}
    # The plan has a reader of its own, which lists all faults with their steps.
    for path, message in json_faults({name: value for name, value in args.items() if name != "plan"}):
        raise InvalidResponse(f"{path.lstrip('.')}: {message}")
    # Clients send the whole form back: another step or tool in it was meant for another request.
    for name in SUBJECT_ARGS & set(args):
        if (action.name, name) != ("run_step", "args") and args[name] != action.args[name]:
            raise InvalidResponse(f"the decision is about another {name} than the request; review the request again")
    if action.name == "run_step" and not isinstance(args.get("args"), dict):
        raise InvalidResponse('an edit of a call must have the arguments to call it with: {"args": {...}}')
    if action.name == "answer_question" and _is_blank(args.get("answer")):
        raise InvalidResponse("fill in the answer")
    return args


def _is_blank(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _as_shown(value: Any, shown: Any, name: str) -> Any:
    """Parse text as JSON if the request's value was not text: clients send edited fields as text."""
    if not isinstance(value, str) or isinstance(shown, str):
        return value
    text = value.strip()
    # Clients that show True send it back so, which is no JSON.
    if name == "happened" and text.lower() in ("true", "false"):
        return text.lower() == "true"
    read = _from_text(text)
    # The very same object is text that is no JSON; it stays as it was typed, blanks included.
    return value if read is text else read


def _approval_in_words(words: str, action: ReviewAction) -> Decision | None:
    """Return an approval in a chat, None if it is none: a word, perhaps a reason, and lines `ask later STEP` below.

    >>> _approval_in_words("approve: as in May", ReviewAction("run_plan", {}, "")).reason
    'as in May'
    """
    lines, later = words.strip().splitlines(), list[str]()
    while len(lines) > 1 and (said := ASK_LATER.fullmatch(lines[-1])):
        later.insert(0, said["step"])
        lines.pop()
    word, _, reason = "\n".join(lines).partition(":")
    # Words behind `ok:` may ask for something else; behind the whole word they are the reason.
    if word.strip().lower() not in (("approve",) if reason.strip() else YES):
        return None
    return Decision("approve", reason=_read_reason(reason), ask_later=_read_ask_later(later, action))


def _read_short(answer: Any, request: ReviewRequest) -> Decision:
    """Read a short form, valid for a single `run_plan` only."""
    if answer is True:
        return Decision("approve")
    if answer is False:
        return Decision("reject", final=True)
    if isinstance(answer, str) and answer.strip():
        word = answer.strip().lower()
        if (approval := _approval_in_words(answer, request.actions[0])) is not None:
            return approval
        return _rejection(None if word in NO else answer, request.actions[0])
    if isinstance(answer, dict) and "steps" in answer:
        return Decision("edit", args={"plan": answer})
    if isinstance(answer, list) and answer and all(isinstance(item, dict) for item in answer):
        if any("type" in item for item in answer):  # no field of a step
            raise InvalidResponse(_count_message(request))
        return Decision("edit", args={"plan": answer})
    raise InvalidResponse(
        "answer with approve, approve: REASON, reject, feedback for a new plan, an edited plan, or "
        '{"decisions": [{"type": ...}]}'
    )
