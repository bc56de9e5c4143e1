"""The verdict: the joint outcome of all decisions on a review request."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, assert_never

from pydantic import JsonValue

from planner_executor.graph.policy.approval_scope import ExecutionTerms
from planner_executor.graph.policy.raised_budget import read_raised
from planner_executor.graph.record.budget import Budget, read_budget
from planner_executor.graph.review.call_form import fit_form
from planner_executor.graph.review.decision import FINAL, Decision, InvalidResponse
from planner_executor.graph.review.human_steps import PASSED, fit_answer
from planner_executor.graph.review.request import ReviewAction, ReviewRequest


@dataclass(frozen=True)
class ReviewVerdict:
    """The outcome: an end (`stop`), a new plan (`feedback`), or that the run goes on.

    `plan` is the decision about the plan, if the request had one. `calls` are the keys of held calls that may be made,
    `edits` maps keys to the arguments to make them with instead, `rejected` to what was said of rejected ones,
    `standing` to wishes for further calls. `given` maps steps to results of gates and questions, `replies` keys of
    calls to the answers of what they asked; `settled` describes uncertain calls; `budget` is the raised budget.
    `decisions` are the parsed decisions; `unseen` is true if they were given before the request was shown.
    """

    stop: Decision | None = None
    feedback: str | None = None
    plan: Decision | None = None
    calls: tuple[str, ...] = ()
    edits: Mapping[str, Mapping[str, JsonValue]] = field(default_factory=dict)
    rejected: Mapping[str, str] = field(default_factory=dict)
    standing: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    given: Mapping[str, JsonValue] = field(default_factory=dict)
    replies: Mapping[str, JsonValue] = field(default_factory=dict)
    settled: tuple[Mapping[str, Any], ...] = ()
    budget: Budget | None = None
    decisions: tuple[Decision, ...] = ()
    unseen: bool = False


NOTHING = ReviewVerdict()


def verdict_of(
    request: ReviewRequest, decisions: Sequence[Decision], terms: ExecutionTerms, *, unseen: bool = False
) -> ReviewVerdict:
    """Combine the decisions; one that ends the run takes precedence, then one that requests a new plan.

    The rejection of a call with words is about this call alone: the other decisions stand.

    Raises:
        InvalidResponse: A decision cannot be carried out.
    """
    pairs = list(zip(request.actions, decisions, strict=True))
    if unseen:
        return _unseen_verdict(pairs)
    rejected = [_rejection(action, decision) for action, decision in pairs if decision.type == "reject"]
    # A no that ends the run ends it whatever else was said: nothing approved beside it may start.
    if stop := next((decision for decision in rejected if decision.final), None):
        return ReviewVerdict(stop=stop, decisions=tuple(decisions))
    effects = [(action, one) for action, one in pairs if action.name == "settle_effect" and one.type == "edit"]
    settled = tuple(_settled(action, one) for action, one in effects)
    answers = [(action, one) for action, one in pairs if action.name == "answer_question" and one.type == "edit"]
    given = {action.args["step"]: _answer(action, one) for action, one in answers if action.key is None}
    replies = {action.key: _answer(action, one) for action, one in answers if action.key is not None}
    raised = [(action, one) for action, one in pairs if action.name == "raise_budget" and one.type == "edit"]
    # One limit at most is reached at a time, so there is one such action or none.
    budget = next((_raised(action, one, terms) for action, one in raised), None)
    calls = [(action.key, one) for action, one in pairs if action.name == "run_step" and action.key is not None]
    verdict = ReviewVerdict(
        given=given,
        replies=replies,
        settled=settled,
        budget=budget,
        rejected={key: one.message or "" for key, one in calls if one.type == "reject"},
        decisions=tuple(decisions),
    )
    sent_back = [_rejection(action, one) for action, one in pairs if one.type == "reject" and not _is_call(action)]
    # The plan will be another one: its approval and those of its calls fall; answers and settled calls are facts.
    if sent_back:
        return replace(verdict, feedback=sent_back[0].feedback)
    # A gate is passed by the absence of a no: those rejected with words have led to feedback above.
    gates = [action.args["step"] for action in request.actions if action.name == "run_step" and not _is_call(action)]
    return replace(
        verdict,
        plan=next((decision for action, decision in pairs if action.name == "run_plan"), None),
        calls=tuple(key for key, one in calls if one.type == "approve"),
        standing={key: one.standing for key, one in calls if one.standing is not None},
        edits={key: (one.args or {})["args"] for key, one in calls if one.type == "edit"},
        given={**dict.fromkeys(gates, PASSED), **given},
    )


def _is_call(action: ReviewAction) -> bool:
    """Whether an action is a call to be made, as distinct from a gate."""
    return action.name == "run_step" and action.key is not None


def _unseen_verdict(pairs: Sequence[tuple[ReviewAction, Decision]]) -> ReviewVerdict:
    """Return the verdict of decisions given before the request was shown; they can approve a plan, nothing else."""
    if any(action.name != "run_plan" or decision.type != "approve" for action, decision in pairs):
        raise InvalidResponse("an approval given in advance covers a plan only; a person has to decide this request")
    decisions = tuple(decision for _, decision in pairs)
    return ReviewVerdict(plan=decisions[0], decisions=decisions, unseen=True)


def _rejection(action: ReviewAction, decision: Decision) -> Decision:
    """Return a rejection with its meaning for the action: a bare one of a budget finishes the run."""
    match action.name:
        case "raise_budget":
            is_bare = (decision.message or "").lower() not in FINAL
            return replace(decision, finishes=decision.final and is_bare)
        case "run_plan" | "run_step" | "answer_question" | "settle_effect":
            return decision
        case _:
            assert_never(action.name)


def _settled(action: ReviewAction, decision: Decision) -> Mapping[str, Any]:
    args = decision.args or {}
    happened = args.get("happened")
    if not isinstance(happened, bool):
        raise InvalidResponse(
            f"happened must be true or false for the call of {action.args['tool']} in {action.args['step']}"
        )
    return {"key": action.key, "happened": happened, "result": args.get("result")}


def _answer(action: ReviewAction, decision: Decision) -> JsonValue:
    """Return the answer to a question of the plan, or to one that a call asked, which comes with a form."""
    fit, lacks = (fit_answer, "match its schema") if action.key is None else (fit_form, "fill its form")
    answer, fault = fit((decision.args or {}).get("answer"), action.answer_schema)
    if fault:
        raise InvalidResponse(f"the answer to {action.args['step']} does not {lacks}: {fault}")
    return answer


def _raised(action: ReviewAction, decision: Decision, terms: ExecutionTerms) -> Budget:
    """Return the edited budget, at most the policy's hard limits."""
    before, limit = read_budget(action.args["budget"])[0], str(action.key)
    raw = (decision.args or {}).get("budget")
    # An empty budget would take every limit away, which nobody means who was asked to raise one.
    if isinstance(raw, Mapping) and not (raw.keys() - {"calls"} or raw.get("calls")):
        raise InvalidResponse(f"the budget is empty; name the limit {limit} and its new value, null removes a limit")
    budget, fault = read_raised(raw, before, terms)
    if fault is not None:
        raise InvalidResponse(fault)
    most = budget.of(limit)
    # The run would stop at once at the same limit and ask again.
    if most is not None and most <= (before.of(limit) or 0):
        raise InvalidResponse(f"the limit {limit} is reached and was not raised; raise it, or reject")
    return budget
