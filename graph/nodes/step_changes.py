"""Changes of single steps that come with the state: words of a chat, or the key `changes`."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from graph.errors import InputError
from graph.plan.depth import parse_json_or_text
from graph.review.step_change import Skip, StepChange, Supply, changes_from
from graph.run_context import RunContext
from graph.run_writer import RunWriter
from graph.state import last_words

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
        InputError: A step is unknown or cannot change, or a result does not fit.
        RunOwnedError: Another process executes the run.
    """
    if run.here_before or run.record.ended:
        return  # a crashed node runs again
    is_goal = last_words(state.get("messages") or ()) == run.record.assignment.goal
    said = change_in_words(state) if words and not is_goal else None
    changes = changes_from(state["changes"]) if state.get("changes") else []
    by = str(run.approver)
    _check_people(run, [*changes, *([said] if said else [])])
    asked = [change for change in (*changes, *([said] if said else [])) if not change.is_made(run.record)]
    drafted = [change.drafted(run.record, by) for change in asked]
    if drafted:
        await RunWriter(run).write(
            *(one.draft for one in drafted), artifacts=[kept for one in drafted for kept in one.kept]
        )


def _check_people(run: RunContext, changes: Sequence[StepChange]) -> None:
    """Refuse the answer to a question from outside of its review, if the policy says who answers.

    Raises:
        InputError: A change is such an answer.
    """
    plan = run.recorded_plan()
    steps = [plan.by_id.get(change.step) for change in changes if isinstance(change, Supply)] if plan else []
    asks = [step.id for step in steps if step is not None and step.kind == "ask"]
    if asks and run.terms.policy.approvers.rules((), run.terms.bounds.cost_usd):
        raise InputError("step", f"the policy says who answers {asks[0]}; answer the question in its review")
