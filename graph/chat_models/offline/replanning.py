"""The replanner's rules: a revision for a prompt document, or an explanation in prose."""

from typing import Any

from graph.chat_models.offline import prose
from graph.chat_models.offline.constraints import BriefSpec, apply_to_brief
from graph.chat_models.offline.prompt_document import PromptDocument
from graph.chat_models.offline.remaining import NoRepair, Remaining
from graph.chat_models.offline.repair import repair_report, repair_searches, repair_web_search
from graph.chat_models.offline.repair_audits import repair_groups, repair_logs, repair_source

_REPAIRS = {
    "write_report": repair_report,
    "web_search": repair_web_search,
    "search_documents": repair_searches,
    "read_logs": repair_logs,
    "group_errors": repair_groups,
    "read_source": repair_source,
}


def revision_for(prompt: PromptDocument) -> dict[str, Any] | str:
    """Return the revision of the remaining steps, or the reason why the rules have none."""
    remaining = Remaining(prompt)
    if prompt.feedback and not remaining.failed and apply_to_brief(BriefSpec("", ()), prompt.feedback[-1]) is None:
        return prose.feedback_not_understood(prompt.feedback[-1], prose.FEEDBACK_ON_REVISIONS)
    failed = dict(remaining.failed)
    try:
        _check_repairable(remaining)
        _apply_feedback(remaining)
        for tool, mend in _REPAIRS.items():
            if remaining.failed_calls(tool):
                mend(remaining)
    except NoRepair as end:
        return prose.explain_no_repair(failed, str(end))
    return remaining.revision()


def _check_repairable(remaining: Remaining) -> None:
    for step in remaining.failed:
        if remaining.status[step] == "uncertain":
            raise NoRepair(f"whether the call of {step} had its effect is for a person to say")
        tool = remaining.tool(step)
        if tool not in _REPAIRS:
            what = f"a call of {tool} that failed" if tool else "a model step that failed"
            raise NoRepair(f"no rule mends {what}")


def _apply_feedback(remaining: Remaining) -> None:
    """Apply feedback about the web and the report's path to the steps that have not run."""
    spec = BriefSpec("", (), web=True)
    for feedback in remaining.prompt.feedback:
        spec = apply_to_brief(spec, feedback) or spec
    for step, fields in list(remaining.steps.items()):
        if fields.get("tool") == "web_search" and not spec.web:
            remaining.drop(step)
        elif fields.get("tool") == "write_report" and spec.path and step not in remaining.failed:
            args = {**fields.get("args", {}), "path": spec.path}
            if args != fields.get("args"):
                remaining.give({**fields, "objective": f"Write the report to {spec.path}", "args": args})
