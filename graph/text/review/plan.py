"""The review of a plan: why it is asked, what changed, what will happen, and the plan."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from planner_executor.graph.plan.issues import Issue
from planner_executor.graph.plan.revision import difference
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.policy.approval_scope import ExecutionTerms
from planner_executor.graph.record.budget import unit_in_words
from planner_executor.graph.record.comment import Comment
from planner_executor.graph.review.planned_call import PlannedCall
from planner_executor.graph.text.drawing.labels import plain
from planner_executor.graph.text.expectation import takes_in_words
from planner_executor.graph.text.literal_text import literal_lines
from planner_executor.graph.text.review.asked_calls import asked_blocks
from planner_executor.graph.text.review.changes import change_blocks, comment_lines
from planner_executor.graph.text.review.criteria import criteria_blocks, listed_blocks
from planner_executor.graph.text.review.drawing import PASSED_LINES, plan_data
from planner_executor.graph.text.review.effects import effect_blocks, outcome
from planner_executor.graph.text.review.frame import Block, Data, Prose, limit_name, name, sentences, to_markdown, words
from planner_executor.graph.text.review.layout import entry
from planner_executor.graph.text.review.why import Reason, why_blocks
from planner_executor.graph.words.name_list import counted

FIRST = Reason()
LEFT_OUT = "Constraints of the goal that the model of a step is not told:"


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
        left_out: Step id -> constraints of the goal that its model is not told.
        calls: Calls that the policy asks about.
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
    left_out: Mapping[str, Sequence[str]] = field(default_factory=dict)
    calls: tuple[PlannedCall, ...] = ()

    @property
    def key(self) -> Hashable:
        """All of it, what is large by its digest: equal for reviews that read the same."""
        large = {
            "plan": self.plan.digest,
            "terms": self.terms.binding(self.plan),
            "before": self.before.digest if self.before is not None else None,
        }
        return tuple(large[one.name] if one.name in large else repr(getattr(self, one.name)) for one in fields(self))


def plan_description(review: PlanReview) -> str:
    """Return the description of a plan and of the effects that its approval permits."""
    return to_markdown(_blocks(review))


def plan_message(plan: Plan, revision: int, done: Mapping[str, str]) -> str:
    """Return the plan as an assistant's message."""
    data = plan_data(plan, done, PASSED_LINES, "state")
    return to_markdown([Prose(f"Plan, revision {revision}:"), data])


def invalid_description(revision: int, issues: Sequence[Issue]) -> str:
    """Return the reasons that the plan in the state cannot be approved."""
    told = f"The plan in the state (after revision {revision}) cannot run. Edit it, or reject it."
    return to_markdown([Prose(told), *(Prose(f"- {words(str(issue))}") for issue in issues)])


def _blocks(review: PlanReview) -> Iterator[Block]:
    plan, left = review.plan, [step for step in review.plan.steps if step.id not in review.done]
    yield from why_blocks(review.revision, review.why)
    if review.goal:
        yield Prose(f"The goal: {words(review.goal)}")
    if review.revision > 1:
        diff = difference(review.before, plan)
        yield from change_blocks(diff, review.before, plan, (review.before_revision, review.was_seen))
        yield from comment_lines(review.comments, review.before or Plan(), plan)
    yield outcome(left, bool(review.done), review.terms.tools)
    if review.warnings:
        yield Prose("Before you decide:")
        yield from sentences(review.warnings)
    yield from effect_blocks(left, plan, review.terms)
    yield from asked_blocks(review.calls, review.terms.tools)
    if notes := literal_lines(left, plan):
        yield Data(tuple(line for note in notes for line in entry(note.removeprefix("- "))))
    yield from criteria_blocks(left, review.has_judge)
    untold = {step.id: review.left_out[step.id] for step in left if step.id in review.left_out}
    yield from listed_blocks(LEFT_OUT, [f"{step}: {plain(one)}" for step, found in untold.items() for one in found])
    yield plan_data(plan, review.done)
    if review.estimate:
        yield Prose(estimate_text(review.estimate))
        if told := takes_in_words(review.estimate.get("takes", {}), name):
            yield Prose(told)
    yield Prose(f"Digest: {plan.digest}")


def estimate_text(estimate: Mapping[str, Any]) -> str:
    """Return a sentence on the remaining work and the remaining budget."""
    chain = f" (longest chain: {estimate['longest_chain']})" if estimate["longest_chain"] > 1 else ""
    by_models = f", {counted(estimate['model_steps'], 'step')} by a model" if estimate["model_steps"] else ""
    calls = counted(estimate["tool_calls"], "tool call")
    if again := estimate.get("further_attempts"):
        calls += f", {counted(again, 'further attempt')} after failures included"
    beside = (
        f", and what comes of {counted(estimate['to_refine'], 'step')} to refine" if "to_refine" in estimate else ""
    )
    told = f"To do: {counted(estimate['steps'], 'step')}{chain}; at most {calls}{by_models}{beside}."
    left = estimate.get("budget_left", {})
    rest = ", ".join(limit_name(unit_in_words(limit, amount)) for limit, amount in left.items())
    over = any(estimate[one] > left.get(one, estimate[one]) for one in ("steps", "tool_calls"))
    told = f"{told} Left of the budget: {rest}." if left else told
    return f"{told} The plan may take more than that; the run then asks." if over else told
