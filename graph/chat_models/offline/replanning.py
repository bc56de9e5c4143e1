"""The replanner's rules: a revision for a prompt document, or an explanation in prose."""

from typing import Any

from planner_executor.graph.chat_models.offline import prose
from planner_executor.graph.chat_models.offline.prompt_document import PromptDocument
from planner_executor.graph.chat_models.offline.remaining import NoRepair, Remaining
from planner_executor.graph.chat_models.offline.repair import repair_report, repair_searches, repair_web_search
from planner_executor.graph.chat_models.offline.repair_audits import repair_groups, repair_logs, repair_source
from planner_executor.graph.chat_models.offline.revision_wishes import apply_wishes

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
    failed = dict(remaining.failed)
    try:
        _check_repairable(remaining)
        if refusal := apply_wishes(remaining):
            return refusal
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
