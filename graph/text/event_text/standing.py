"""The text of the events of standing approvals."""

import time

from planner_executor.graph.record.events import StandingGiven, StandingRevoked
from planner_executor.graph.record.standing_approval import StandingApproval, StandingUse
from planner_executor.graph.text.event_text.sections import Words
from planner_executor.graph.text.event_text.values import value_text
from planner_executor.graph.words.name_list import counted


def standing_line(use: StandingUse) -> str:
    """Return a standing approval as one line: what it covers, what is left of it, and who gave it."""
    approval = use.approval
    left = f"revoked: {use.revoked_by}" if use.revoked_by is not None else f"{use.left} of {approval.at_most} left"
    return f"{approval.id}  {approval.about} {_extent(approval)}, {left}, by {', '.join(approval.given_by)}"


def ahead_line(use: StandingUse) -> str:
    """Return which calls of a run a standing approval let through, and who gave it."""
    approval = use.approval
    calls = counted(len(use.calls), f"call of {approval.tool}", f"calls of {approval.tool}")
    if approval.playbook is not None:
        calls = f"the plan of {approval.about}"
    return f"{calls} approved ahead by {', '.join(approval.given_by)} (standing approval {approval.id})"


def standing_given(data: StandingGiven) -> Words:
    """Say what is approved from now on, and within which bounds."""
    approval = data.approval
    who = ", ".join(approval.given_by)
    what = counted(approval.at_most, "further call" if approval.playbook is None else "run")
    yield f"{who} approved {what} of {approval.about} {_extent(approval)}: {approval.id}"
    for name, constraint in approval.args.items():
        yield f"{name} within {value_text(constraint)}"


def _extent(approval: StandingApproval) -> str:
    if approval.until is None:
        return "in this run" if approval.run is None else f"in run {approval.run}"
    where = "in runs that they ask for, " if approval.of_givers else ""
    return f"{where}until {time.strftime('%Y-%m-%d %H:%M UTC', time.gmtime(approval.until))}"


def standing_revoked(data: StandingRevoked) -> Words:
    """Say who revoked which standing approval."""
    yield f"the standing approval {data.id} was revoked by {data.approver}"
