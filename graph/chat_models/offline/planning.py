"""The planner's rules: a plan for a prompt document, or an explanation in prose."""

import ast
from dataclasses import replace
from typing import Any

from planner_executor.graph.chat_models.offline import audit, brief, calculation, prose
from planner_executor.graph.chat_models.offline.audit_goals import AuditGoal, apply_to_audit, audit_goal
from planner_executor.graph.chat_models.offline.constraints import BriefSpec, apply_to_brief
from planner_executor.graph.chat_models.offline.expression import expression_in
from planner_executor.graph.chat_models.offline.goals import BriefGoal, brief_goal
from planner_executor.graph.chat_models.offline.prompt_document import PromptDocument
from planner_executor.graph.chat_models.offline.sums import checked
from planner_executor.graph.chat_models.offline.wishes import wished


def plan_for(prompt: PromptDocument) -> dict[str, Any] | str:
    """Return the plan for a goal, or an explanation in prose if the rules have none."""
    expression = expression_in(prompt.goal)
    if expression is not None:
        return _sum(prompt, expression)
    if wanted := audit_goal(prompt.goal):
        return _audit(prompt, wanted)
    goal = brief_goal(prompt.goal)
    return prose.describe_rules() if goal is None else _brief(prompt, goal)


def _sum(prompt: PromptDocument, expression: ast.expr) -> dict[str, Any] | str:
    plan = wished(calculation.calculation(expression), prompt, checked, prose.WISHES_FOR_SUMS)
    missing = prompt.missing(calculation.NEEDED) if not isinstance(plan, str) and plan["steps"] else []
    return prose.describe_rules(missing) if missing else plan


def _audit(prompt: PromptDocument, goal: AuditGoal) -> dict[str, Any] | str:
    if missing := prompt.missing(audit.NEEDED):
        return prose.describe_rules(missing)
    wanted = wished(goal, prompt, apply_to_audit, prose.WISHES_FOR_AUDITS)
    if isinstance(wanted, str):
        return wanted
    missing = prompt.missing(brief.REPORT) if wanted.draft else []
    if missing and not goal.draft:
        return prose.describe_rules(missing)
    if missing:
        without = "no draft was written, since the tool write_report is not listed"
        return audit.audit_plan(replace(wanted, draft=False), without)
    return audit.audit_plan(wanted)


def _brief(prompt: PromptDocument, goal: BriefGoal) -> dict[str, Any] | str:
    if not goal.topic:
        return prose.no_topic()
    if missing := prompt.missing({**brief.SEARCH, **brief.SUMMARY}):
        return prose.describe_rules(missing)
    asked = brief.brief_spec(goal)
    spec = wished(asked, prompt, apply_to_brief, prose.WISHES_FOR_BRIEFS)
    if isinstance(spec, str):
        return spec
    # A web search or a report that only a wish of feedback brings in has not been looked for above.
    missing = prompt.missing(brief.WEB) if spec.web and not asked.web else []
    missing += prompt.missing(brief.REPORT) if spec.report and not asked.report else []
    return prose.describe_rules(missing) if missing else _fit_to_tools(spec, prompt)


def _fit_to_tools(spec: BriefSpec, prompt: PromptDocument) -> dict[str, Any]:
    """Return the plan that the available tools allow, with a note on omitted parts in the answer."""
    left_out = []
    if spec.report and prompt.missing(brief.REPORT):
        spec = replace(spec, report=False)
        left_out.append("no report was written, since the tool write_report is not listed")
    if spec.web and prompt.missing(brief.WEB):
        spec = replace(spec, web=False)
        left_out.append("the web was not searched, since the tool web_search is not listed")
    plan = brief.brief_plan(spec, "; ".join(left_out) or None)
    for step in plan["steps"]:
        step["args"] = {name: value for name, value in step["args"].items() if prompt.offers(step["tool"], name)}
    return plan
