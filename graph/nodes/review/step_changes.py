"""Changes of single steps that come with the state: words of a chat, or the key `changes`."""

import re
from collections.abc import Mapping
from typing import Any

from planner_executor.graph.nodes.run.context import RunContext
from planner_executor.graph.nodes.run.writer import RunWriter
from planner_executor.graph.plan.depth import parse_json_or_text
from planner_executor.graph.review.step_change import Skip, StepChange, Supply, changes_from, drafted_by
from planner_executor.graph.state import last_words

SKIP = re.compile(r"skip\s+(?P<step>[A-Za-z][A-Za-z0-9_]*)\s*(?::(?P<why>.*))?", re.IGNORECASE | re.DOTALL)
SUPPLY = re.compile(r"supply\s+(?P<step>[A-Za-z][A-Za-z0-9_]*)\s*=(?P<value>.+)", re.IGNORECASE | re.DOTALL)


def change_in_words(state: Mapping[str, Any]) -> StepChange | None:
    """Return what the user's last message changes: `skip STEP`, `skip STEP: WHY` or `supply STEP = RESULT`."""
    words = last_words(state.get("messages") or ()) or ""
    if skip := SKIP.fullmatch(words):
        return Skip(skip["step"], (skip["why"] or "").strip())
    if supply := SUPPLY.fullmatch(words):
        return Supply(supply["step"], parse_json_or_text(supply["value"].strip()))
    return None


async def take_changes(run: RunContext, state: Mapping[str, Any], *, words: bool = False) -> None:
    """Write the changes in the state, and with `words` that of the chat, to a run that nobody executes; once.

    A server that executes an invocation again does so at another checkpoint, so that what is made already is left out.

    Raises:
        InputError: A step is unknown or cannot change, a result does not fit, or others decide about it.
        RunOwnedError: Another process executes the run.
    """
    if run.here_before or run.record.ended:
        return  # a crashed node runs again
    is_goal = last_words(state.get("messages") or ()) == run.record.assignment.started.goal
    said = change_in_words(state) if words and not is_goal else None
    changes = changes_from(state["changes"]) if state.get("changes") else []
    asked = [change for change in (*changes, *([said] if said else [])) if not change.is_made(run.record)]
    approvers, tools = run.terms.policy.approvers, run.services.toolbox.specs
    drafted = [drafted_by(change, run.record, approvers, tools, run.approver) for change in asked]
    if drafted:
        await RunWriter(run).write(
            *(one.draft for one in drafted), artifacts=[kept for one in drafted for kept in one.kept]
        )
