"""What the review of a plan rests on, and why there is its revision."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.policy.approval_scope import ExecutionTerms, ShownFor
from planner_executor.graph.record.comment import Comment
from planner_executor.graph.record.plan_state import PlanState
from planner_executor.graph.review.content import PreviewContent
from planner_executor.graph.review.planned_call import PlannedCall

NO_RULE = ShownFor()


@dataclass(frozen=True)
class Reason:
    """Why there is this revision: its author and reason, the failures that it answers, and why it gets nowhere.

    `failed` are the failed steps and their errors. `shown_for` is the rule that has it shown.
    """

    author: str = "planner"
    cause: str = ""
    reason: str = ""
    failed: tuple[tuple[str, str], ...] = ()
    stalled: str | None = None
    shown_for: ShownFor = NO_RULE


FIRST = Reason()


def reason_of(plan: PlanState, failed: tuple[tuple[str, str], ...], shown_for: ShownFor) -> Reason:
    """Return the reason of the revision in force; `failed` are the steps that failed before it, with their errors."""
    revised = plan.revised
    if revised is None:
        return Reason(shown_for=shown_for)
    return Reason(revised.author, revised.cause, revised.reason or "", failed, plan.stalled, shown_for)


@dataclass(frozen=True)
class PlanReview:
    """What a review of a plan rests on.

    Args:
        plan: The plan to approve.
        revision: Its number.
        terms: The terms that it would run under, with the tools.
        goal: The goal of the run.
        why: Why there is this revision.
        before: The plan that a person saw last, else the one that ran last; `before_revision` is its number and
            `was_seen` whether a person saw it.
        done: Step id -> `succeeded` or `skipped`, for the steps that are not left to do.
        warnings: Sentences, such as on uncertain calls that the plan may repeat.
        estimate: Upper bounds on the remaining work, see `graph.review.estimate`, and as `takes` what it may take, see
            `graph.review.expectation`.
        has_judge: Whether a model judges success criteria.
        comments: Comments of people on steps of `before`.
        on_comments: What the planner says of them, by step.
        left_out: Step id -> constraints of the goal that its model is not told.
        calls: Calls that the policy asks about.
        previews: What tools say that calls would do; `unpreviewed` are other calls of such tools.
    """

    plan: Plan
    revision: int
    terms: ExecutionTerms
    goal: str = ""
    why: Reason = FIRST
    before: Plan | None = None
    before_revision: int = 0
    was_seen: bool = True
    done: Mapping[str, str] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    estimate: Mapping[str, Any] | None = None
    has_judge: bool = False
    comments: tuple[Comment, ...] = ()
    on_comments: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, Sequence[str]] = field(default_factory=dict)
    calls: tuple[PlannedCall, ...] = ()
    previews: tuple[PreviewContent, ...] = ()
    unpreviewed: tuple[str, ...] = ()

    @property
    def key(self) -> Hashable:
        """All of it, what is large by its digest: equal for reviews that read the same."""
        large = {
            "plan": self.plan.digest,
            "terms": self.terms.binding(self.plan),
            "before": self.before.digest if self.before is not None else None,
        }
        # Every field, by going through them: a key made by hand once left one out and showed a stale review.
        return tuple(large[one.name] if one.name in large else repr(getattr(self, one.name)) for one in fields(self))
