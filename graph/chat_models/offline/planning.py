"""The planner's rules: a document of the planner's prompt -> a plan, or plain words."""

from dataclasses import replace
from typing import Any

from graph.chat_models.offline import audit, brief, calculation, prose
from graph.chat_models.offline.audit_goals import Audit, audit_goal, changed_audit
from graph.chat_models.offline.constraints import Order, changed
from graph.chat_models.offline.expression import expression_in
from graph.chat_models.offline.goals import BriefGoal, brief_goal
from graph.chat_models.offline.prompt_document import Asked

_ARITHMETIC_TAKES_NO_WISHES = "nothing about arithmetic, which has one way to be done"


def plan_for(asked: Asked) -> dict[str, Any] | str:
    """Return the plan for a goal, or what the rules have to say instead."""
    expression = expression_in(asked.goal)
    if expression is not None:
        if asked.feedback:
            return prose.feedback_not_understood(asked.feedback[-1], _ARITHMETIC_TAKES_NO_WISHES)
        plan = calculation.calculation(expression)
        missing = asked.missing(calculation.NEEDED) if plan["steps"] else []
        return prose.what_it_can_do(missing) if missing else plan
    if wanted := audit_goal(asked.goal):
        return _audit(asked, wanted)
    goal = brief_goal(asked.goal)
    return prose.what_it_can_do() if goal is None else _brief(asked, goal)


def _audit(asked: Asked, wanted: Audit) -> dict[str, Any] | str:
    if missing := asked.missing(audit.NEEDED):
        return prose.what_it_can_do(missing)
    for constraint in asked.constraints:
        wanted = changed_audit(wanted, constraint) or wanted
    for feedback in asked.feedback:
        changed_now = changed_audit(wanted, feedback)
        if changed_now is None:
            return prose.feedback_not_understood(feedback, prose.FEEDBACK_ON_AUDITS)
        wanted = changed_now
    if wanted.draft and asked.missing(brief.REPORT):
        without = "no draft was written, since the tool write_report is not listed"
        return audit.audit_plan(replace(wanted, draft=False), without)
    return audit.audit_plan(wanted)


def _brief(asked: Asked, goal: BriefGoal) -> dict[str, Any] | str:
    if not goal.topic:
        return prose.no_topic()
    if missing := asked.missing({**brief.SEARCH, **brief.SUMMARY}):
        return prose.what_it_can_do(missing)
    order = brief.order_for(goal)
    for constraint in asked.constraints:
        order = changed(order, constraint) or order
    for feedback in asked.feedback:
        wished = changed(order, feedback)
        if wished is None:
            return prose.feedback_not_understood(feedback, prose.FEEDBACK_ON_PLANS)
        order = wished
    return _fitted(order, asked)


def _fitted(order: Order, asked: Asked) -> dict[str, Any]:
    """Return the plan with what the tools at hand allow; what is left out is said with the answer."""
    left_out = []
    if order.report and asked.missing(brief.REPORT):
        order = replace(order, report=False)
        left_out.append("no report was written, since the tool write_report is not listed")
    if order.web and asked.missing(brief.WEB):
        order = replace(order, web=False)
        left_out.append("the web was not searched, since the tool web_search is not listed")
    plan = brief.brief_plan(order, "; ".join(left_out) or None)
    for step in plan["steps"]:
        step["args"] = {name: value for name, value in step["args"].items() if asked.offers(step["tool"], name)}
    return plan
