"""What the decisions on a review request come to, all of them together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import JsonValue

from graph.policy.approval_scope import ExecutionTerms
from graph.record.budget import Budget, read_budget
from graph.review.decision import FINAL, Decision, UnreadableAnswer
from graph.review.human_steps import GATE, PASSED, fitting_answer
from graph.review.request import ReviewAction, ReviewRequest


@dataclass(frozen=True)
class ReviewVerdict:
    """What follows: an end (`stop`), another plan (`feedback`), or that the run goes on.

    `plan` is the decision about the plan, where there was one to make; `steps` says that the calls which waited may be
    made, `given` holds the results of gates and questions by step, `settled` what is known of uncertain calls, `budget`
    is the budget after it was raised. `decisions` is what was answered, as it was read; `unseen` says that it was given
    beforehand, with nobody looking.
    """

    stop: Decision | None = None
    feedback: str | None = None
    plan: Decision | None = None
    steps: bool = False
    given: Mapping[str, JsonValue] = field(default_factory=dict)
    settled: tuple[Mapping[str, Any], ...] = ()
    budget: Budget | None = None
    decisions: tuple[Decision, ...] = ()
    unseen: bool = False


NOTHING = ReviewVerdict()


def verdict_of(
    request: ReviewRequest, decisions: Sequence[Decision], terms: ExecutionTerms, *, unseen: bool = False
) -> ReviewVerdict:
    """Return what the decisions come to; one that ends the run stands above the others, then one that sends it back.

    Raises:
        UnreadableAnswer: One of them cannot be carried out.
    """
    pairs = list(zip(request.actions, decisions, strict=True))
    if unseen:
        return _beforehand(pairs)
    rejected = [_rejection(action, decision) for action, decision in pairs if decision.type == "reject"]
    if stop := next((decision for decision in rejected if decision.final), None):
        return ReviewVerdict(stop=stop, decisions=tuple(decisions))
    settled = tuple(_settled(action, one) for action, one in pairs if action.name == "settle_effect")
    answers = [(action, one) for action, one in pairs if action.name == "answer_question" and one.type == "edit"]
    given = {action.args["step"]: _answer(action, one) for action, one in answers}
    raised = [(action, one) for action, one in pairs if action.name == "raise_budget" and one.type == "edit"]
    budget = next((_raised(action, one, terms) for action, one in raised), None)
    told = ReviewVerdict(given=given, settled=settled, budget=budget, decisions=tuple(decisions))
    if rejected:
        return replace(told, feedback=rejected[0].message)
    gates = [action.args["step"] for action in request.actions if action.args.get("tool") == GATE and not action.key]
    return replace(
        told,
        plan=next((decision for action, decision in pairs if action.name == "run_plan"), None),
        steps=any(action.name == "run_step" for action in request.actions),
        given={**dict.fromkeys(gates, PASSED), **given},
    )


def _beforehand(pairs: Sequence[tuple[ReviewAction, Decision]]) -> ReviewVerdict:
    """Return what comes of decisions that were given before anybody could look: they approve a plan, nothing else."""
    if any(action.name != "run_plan" or decision.type != "approve" for action, decision in pairs):
        raise UnreadableAnswer("what is given unseen approves a plan and nothing else; somebody has to look at this")
    decisions = tuple(decision for _, decision in pairs)
    return ReviewVerdict(plan=decisions[0], decisions=decisions, unseen=True)


def _rejection(action: ReviewAction, decision: Decision) -> Decision:
    """Return a rejection as it is meant: that of a budget without a word is to finish with what there is."""
    if action.name == "settle_effect":
        return replace(decision, final=True)
    if action.name == "raise_budget" and decision.final and (decision.message or "").lower() not in FINAL:
        return replace(decision, finishes=True)
    return decision


def _settled(action: ReviewAction, decision: Decision) -> Mapping[str, Any]:
    args = decision.args or {}
    happened = args.get("happened")
    if not isinstance(happened, bool):
        raise UnreadableAnswer(f"say of {action.args['step']} whether {action.args['tool']} happened: true or false")
    return {"key": action.key, "happened": happened, "result": args.get("result")}


def _answer(action: ReviewAction, decision: Decision) -> JsonValue:
    answer, fault = fitting_answer((decision.args or {}).get("answer"), action.answer_schema)
    if fault:
        raise UnreadableAnswer(f"the answer to {action.args['step']} does not fit its schema: {fault}")
    return answer


def _raised(action: ReviewAction, decision: Decision, terms: ExecutionTerms) -> Budget:
    """Return the budget as it was edited; it may go up to the policy's hard limits."""
    before, limit = read_budget(action.args["budget"])[0], str(action.key)
    budget, faults = read_budget((decision.args or {}).get("budget"))
    faults += [(f"calls.{tool}", "is about no tool") for tool in budget.calls if tool not in terms.tools]
    if budget.cost_usd is not None and before.cost_usd is None:
        faults.append(("cost_usd", "cannot be set in mid-run, because prices are checked when a graph is built"))
    if faults:
        raise UnreadableAnswer("; ".join(f"{name} {why}" for name, why in faults))
    if over := budget.beyond(terms.policy.limits):
        raise UnreadableAnswer(f"the policy's hard limit of {', '.join(over)} cannot be raised")
    most = budget.of(limit)
    if most is not None and most <= (before.of(limit) or 0):
        raise UnreadableAnswer(f"{limit} is the limit that is reached, and it is no higher now; raise it, or reject")
    return budget
