"""The key under which a description is kept: two reviews that differ in anything have two."""

from dataclasses import fields, replace
from typing import Any

import pytest

from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.policy.approval_scope import ExecutionTerms
from planner_executor.graph.record.comment import Comment
from planner_executor.graph.review.content import PreviewContent
from planner_executor.graph.review.plan_review import PlanReview, Reason
from planner_executor.graph.review.planned_call import PlannedCall
from planner_executor.graph.text.review.content import plan_content
from planner_executor.graph.text.review.plan import plan_description

PLAN = Plan(steps=(Step(id="a", objective="o", success_criteria="it is short"),))
OTHER = Plan(steps=(Step(id="b", objective="o"),))
REVIEW = PlanReview(PLAN, 1, ExecutionTerms({}))
OTHERS: dict[str, Any] = {
    "plan": OTHER,
    "revision": 2,
    "terms": ExecutionTerms({"send": ToolSpec("send", "d", {})}),
    "goal": "g",
    "why": Reason("replanner"),
    "before": OTHER,
    "before_revision": 1,
    "was_seen": False,
    "done": {"a": "succeeded"},
    "warnings": ["a: it is new"],
    "estimate": {"steps": 1},
    "has_judge": True,
    "comments": (Comment("a", "only last year"),),
    "on_comments": {"a": "It reads last year."},
    "left_out": {"a": ("in German",)},
    "calls": (PlannedCall("a", "send", "the policy asks about every call of send"),),
    "previews": (PreviewContent(place="a", tool="send", text="it would"),),
    "unpreviewed": ("a",),
}


@pytest.mark.parametrize("name", [one.name for one in fields(PlanReview)])
def test_a_review_that_differs_in_one_field_has_another_key(name: str) -> None:
    review = PlanReview(Plan(steps=(Step(id="a", objective="o", tool="send"),)), 1, ExecutionTerms({}))
    of = review if name == "terms" else REVIEW

    assert replace(of, **{name: OTHERS[name]}).key != of.key == replace(of).key


def told(review: PlanReview) -> str:
    return plan_description(plan_content(review), review.plan)


def test_what_a_model_judges_is_not_said_of_a_run_without_a_judge() -> None:
    kept = {REVIEW.key: told(REVIEW)}
    judged = replace(REVIEW, has_judge=True)

    assert kept.get(judged.key) != told(judged) != told(REVIEW)
    assert judged.key not in kept
