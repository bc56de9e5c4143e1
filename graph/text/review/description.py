"""The description of a request in Markdown: a pure function of its value and of the action that this is about."""

from collections.abc import Mapping
from typing import Any, assert_never

from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.review.content import (
    ActionContent,
    BudgetContent,
    CallContent,
    GateContent,
    PlanContent,
    QuestionContent,
    UncertainContent,
)
from planner_executor.graph.text.call_question import asked_description
from planner_executor.graph.text.review.budget import budget_blocks
from planner_executor.graph.text.review.calls import held_blocks, new_blocks, uncertain_blocks
from planner_executor.graph.text.review.frame import to_markdown
from planner_executor.graph.text.review.person import gate_blocks, question_blocks
from planner_executor.graph.text.review.plan import invalid_description, plan_description


def description(content: ActionContent, args: Mapping[str, Any], goal: str = "") -> str:
    """Return what a person reads of one action of a request.

    Args:
        content: What the request says of it as data.
        args: The arguments of the action, whose plan the content names steps of.
        goal: The goal of the run.
    """
    match content:
        case PlanContent(cannot_run=True):
            return invalid_description(content)
        case PlanContent():
            return plan_description(content, Plan.model_validate(args["plan"]), goal)
        case QuestionContent(tool=str()):
            # A question of a call has a form of the tool's server; one of the plan has at most a schema.
            return asked_description(content, args)
        case QuestionContent():
            return to_markdown(question_blocks(content, args))
        case GateContent():
            return to_markdown(gate_blocks(content, args))
        case CallContent(new=True):
            return to_markdown(new_blocks(content, args))
        case CallContent():
            return to_markdown(held_blocks(content, args))
        case UncertainContent():
            return to_markdown(uncertain_blocks(content, args))
        case BudgetContent():
            return to_markdown(budget_blocks(content, args))
        case _:
            assert_never(content)
