"""The replanner's rules: a document of the replanner's prompt -> a revision, or plain words."""

from typing import Any

from graph.chat_models.offline import prose
from graph.chat_models.offline.prompt_document import Asked
from graph.chat_models.offline.remaining import NoOtherWay, Remaining
from graph.chat_models.offline.repair import mend_report, mend_searches, mend_web_search
from graph.chat_models.offline.repair_audits import mend_groups, mend_logs, mend_source
from graph.chat_models.offline.revision_wishes import apply_wishes

_MENDS = {
    "write_report": mend_report,
    "web_search": mend_web_search,
    "search_documents": mend_searches,
    "read_logs": mend_logs,
    "group_errors": mend_groups,
    "read_source": mend_source,
}


def revision_for(asked: Asked) -> dict[str, Any] | str:
    """Return the revision of what is left, or why the rules have none."""
    remaining = Remaining(asked)
    failed = dict(remaining.failed)
    try:
        _check_that_rules_fit(remaining)
        if refusal := apply_wishes(remaining):
            return refusal
        for tool, mend in _MENDS.items():
            if remaining.failed_calls(tool):
                mend(remaining)
    except NoOtherWay as end:
        return prose.gives_up(failed, str(end))
    return remaining.revision()


def _check_that_rules_fit(remaining: Remaining) -> None:
    for step in remaining.failed:
        if remaining.status[step] == "uncertain":
            raise NoOtherWay(f"whether the call of {step} had its effect is for a person to say")
        tool = remaining.tool(step)
        if tool not in _MENDS:
            what = f"a call of {tool} that failed" if tool else "a model step that failed"
            raise NoOtherWay(f"no rule mends {what}")
