"""The planner's rules: a plan for a prompt document, or an explanation in prose."""

from dataclasses import replace
from typing import Any

from graph.chat_models.offline import audit, brief, calculation, prose
from graph.chat_models.offline.audit_goals import Audit, apply_to_audit, audit_goal
from graph.chat_models.offline.constraints import BriefSpec, apply_to_brief
from graph.chat_models.offline.expression import expression_in
from graph.chat_models.offline.goals import BriefGoal, brief_goal
from graph.chat_models.offline.prompt_document import PromptDocument

_ARITHMETIC_FEEDBACK = "nothing about arithmetic, which has one way to be done"


def plan_for(prompt: PromptDocument) -> dict[str, Any] | str:
    """Return the plan for a goal, or an explanation in prose if the rules have none."""
    expression = expression_in(prompt.goal)
    if expression is not None:
        if prompt.feedback:
            return prose.feedback_not_understood(prompt.feedback[-1], _ARITHMETIC_FEEDBACK)
        plan = calculation.calculation(expression)
        missing = prompt.missing(calculation.NEEDED) if plan["steps"] else []
        return prose.describe_rules(missing) if missing else plan
    if wanted := audit_goal(prompt.goal):
        return _audit(prompt, wanted)
    goal = brief_goal(prompt.goal)
    return prose.describe_rules() if goal is None else _brief(prompt, goal)


def _audit(prompt: PromptDocument, wanted: Audit) -> dict[str, Any] | str:
    if missing := prompt.missing(audit.NEEDED):
        return prose.describe_rules(missing)
    for constraint in prompt.constraints:
        wanted = apply_to_audit(wanted, constraint) or wanted
    for feedback in prompt.feedback:
        changed = apply_to_audit(wanted, feedback)
        if changed is None:
            return prose.feedback_not_understood(feedback, prose.FEEDBACK_ON_AUDITS)
        wanted = changed
    if wanted.draft and prompt.missing(brief.REPORT):
        without = "no draft was written, since the tool write_report is not listed"
        return audit.audit_plan(replace(wanted, draft=False), without)
    return audit.audit_plan(wanted)


def _brief(prompt: PromptDocument, goal: BriefGoal) -> dict[str, Any] | str:
    if not goal.topic:
        return prose.no_topic()
    if missing := prompt.missing({**brief.SEARCH, **brief.SUMMARY}):
        return prose.describe_rules(missing)
    spec = brief.brief_spec(goal)
    for constraint in prompt.constraints:
        spec = apply_to_brief(spec, constraint) or spec
    for feedback in prompt.feedback:
        changed = apply_to_brief(spec, feedback)
        if changed is None:
            return prose.feedback_not_understood(feedback, prose.FEEDBACK_ON_PLANS)
        spec = changed
    return _fit_to_tools(spec, prompt)


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
