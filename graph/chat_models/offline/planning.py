"""The planner's rules: a document of the planner's prompt -> a plan, or plain words."""

import ast
from dataclasses import replace
from typing import Any

from graph.chat_models.offline import audit, brief, calculation, prose
from graph.chat_models.offline.audit_goals import Audit, audit_goal, changed_audit
from graph.chat_models.offline.constraints import Order, changed
from graph.chat_models.offline.expression import expression_in
from graph.chat_models.offline.goals import BriefGoal, brief_goal
from graph.chat_models.offline.prompt_document import Asked
from graph.chat_models.offline.sums import checked
from graph.chat_models.offline.wishes import wished


def plan_for(asked: Asked) -> dict[str, Any] | str:
    """Return the plan for a goal, or what the rules have to say instead."""
    expression = expression_in(asked.goal)
    if expression is not None:
        return _sum(asked, expression)
    if wanted := audit_goal(asked.goal):
        return _audit(asked, wanted)
    goal = brief_goal(asked.goal)
    return prose.what_it_can_do() if goal is None else _brief(asked, goal)


def _sum(asked: Asked, expression: ast.expr) -> dict[str, Any] | str:
    plan = wished(calculation.calculation(expression), asked, checked, prose.WISHES_FOR_SUMS)
    missing = asked.missing(calculation.NEEDED) if not isinstance(plan, str) and plan["steps"] else []
    return prose.what_it_can_do(missing) if missing else plan


def _audit(asked: Asked, goal: Audit) -> dict[str, Any] | str:
    if missing := asked.missing(audit.NEEDED):
        return prose.what_it_can_do(missing)
    wanted = wished(goal, asked, changed_audit, prose.WISHES_FOR_AUDITS)
    if isinstance(wanted, str):
        return wanted
    if wanted.draft and asked.missing(brief.REPORT):
        without = "no draft was written, since the tool write_report is not listed"
        return audit.audit_plan(replace(wanted, draft=False), without)
    return audit.audit_plan(wanted)


def _brief(asked: Asked, goal: BriefGoal) -> dict[str, Any] | str:
    if not goal.topic:
        return prose.no_topic()
    if missing := asked.missing({**brief.SEARCH, **brief.SUMMARY}):
        return prose.what_it_can_do(missing)
    order = wished(brief.order_for(goal), asked, changed, prose.WISHES_FOR_BRIEFS)
    return order if isinstance(order, str) else _fitted(order, asked)


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
